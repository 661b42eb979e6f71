import java.lang.reflect.*;
import java.util.*;

/**
 * Writes what the replication policies of one Kafka release answer, one JSON object a line:
 *
 *   java -cp 'LIBS/*' PolicyVectors.java VERSION > policy-VERSION.jsonl
 */
public class PolicyVectors {
    static final String PKG = "org.apache.kafka.connect.mirror.";
    static final String[] TOPICS = {
        "", "orders", "a.orders", "b.orders", "a.b.orders", "c.b.a.orders", "orders.", "orders..", ".orders", ".", "..", "a..b", "a_orders", "b_a_orders", "b.a_orders", "heartbeats", "a.heartbeats", "b.a.heartbeats",
        "a_heartbeats", "device-heartbeats", "a.device-heartbeats", "xheartbeats", "__consumer_offsets", "_schemas", "payments.internal", "payments-internal", "payments_internal", "mm2-offset-syncs.b.internal", "mm2-offset-syncs_b_internal",
        "mm2xinternal", "mm2.internal", "mm2-configs.a.internal", "a.checkpoints.internal", "a_checkpoints_internal", "checkpoints.internal", ".checkpoints.internal", "xcheckpointsinternal", "checkpointsinternal", "mm2internal", "ordersinternal", "internal", "-internal", "b", "ba", "ab", "bab",
    };
    static final String[][] CONFIGS = {
        {"DefaultReplicationPolicy", null, null}, {"DefaultReplicationPolicy", ".", null}, {"DefaultReplicationPolicy", "_", null}, {"DefaultReplicationPolicy", "", null}, {"DefaultReplicationPolicy", "_", "false"}, {"DefaultReplicationPolicy", null, "false"}, {"DefaultReplicationPolicy", "", "false"},
        {"IdentityReplicationPolicy", null, null}, {"IdentityReplicationPolicy", "_", null}, {"IdentityReplicationPolicy", "_", "false"},
    };

    public static void main(String[] args) throws Exception {
        for (String[] c : CONFIGS) {
            Object policy;
            try {
                policy = Class.forName(PKG + c[0]).getConstructor().newInstance();
            } catch (ClassNotFoundException e) {
                continue;
            }
            Map<String, String> props = new HashMap<>();
            props.put("source.cluster.alias", "a");
            if (c[1] != null) props.put("replication.policy.separator", c[1]);
            if (c[2] != null) props.put("replication.policy.internal.topic.separator.enabled", c[2]);
            policy.getClass().getMethod("configure", Map.class).invoke(policy, props);
            for (String t : TOPICS) {
                StringBuilder b = new StringBuilder("{\"class\":" + q(PKG + c[0]) + ",\"sep\":" + q(c[1]) + ",\"flag\":" + q(c[2]) + ",\"topic\":" + q(t));
                b.append(",\"remote\":" + q(call(policy, "formatRemoteTopic", "a", t)));
                b.append(",\"source\":" + q(call(policy, "topicSource", t)));
                b.append(",\"upstream\":" + q(call(policy, "upstreamTopic", t)));
                b.append(",\"original\":" + q(call(policy, "originalTopic", t)));
                b.append(",\"internal\":" + call(policy, "isInternalTopic", t));
                b.append(",\"cycle\":" + cycle(policy, t));
                b.append(",\"syncs\":" + q(call(policy, "offsetSyncsTopic", "b")) + ",\"checkpoints\":" + q(call(policy, "checkpointsTopic", "a")));
                System.out.println(b.append("}"));
            }
        }
    }

    static Object call(Object policy, String name, String... args) throws Exception {
        Class<?>[] types = new Class<?>[args.length];
        Arrays.fill(types, String.class);
        try {
            Method m = policy.getClass().getMethod(name, types);
            return m.invoke(policy, (Object[]) args);
        } catch (NoSuchMethodException e) {
            return null;
        } catch (InvocationTargetException e) {
            return "!" + e.getCause().getClass().getSimpleName();
        }
    }

    /** The source connector's own test, for the flow a->b. */
    static Object cycle(Object policy, String topic) throws Exception {
        Class<?> connectorClass = Class.forName(PKG + "MirrorSourceConnector");
        Object connector = connectorClass.getConstructor().newInstance();
        Object pair = Class.forName(PKG + "SourceAndTarget").getConstructor(String.class, String.class).newInstance("a", "b");
        set(connector, "sourceAndTarget", pair);
        set(connector, "replicationPolicy", policy);
        Method m = connectorClass.getDeclaredMethod("isCycle", String.class);
        m.setAccessible(true);
        return m.invoke(connector, topic);
    }

    static void set(Object o, String field, Object value) throws Exception {
        Field f = o.getClass().getDeclaredField(field);
        f.setAccessible(true);
        f.set(o, value);
    }

    static String q(Object o) {
        return o == null ? "null" : "\"" + o + "\"";
    }
}
