import java.io.FileInputStream;
import java.lang.reflect.*;
import java.nio.file.*;
import java.util.*;

/**
 * Writes, as JSON, what MirrorMaker 2 itself makes of properties files: for each ordered pair of clusters the connector
 * and the worker configuration. Run it with the jars of one Kafka release on the class path:
 *
 *   java -cp 'LIBS/*' Effective.java effective FILE... > effective-VERSION.json
 *   java -cp 'LIBS/*' Effective.java keys              > keys-VERSION.json
 */
public class Effective {
    static final String PKG = "org.apache.kafka.connect.mirror.";

    public static void main(String[] args) throws Exception {
        if (args[0].equals("keys")) {
            keys();
            return;
        }
        Map<String, Object> out = new TreeMap<>();
        for (String file : Arrays.asList(args).subList(1, args.length))
            out.put(Paths.get(file).getFileName().toString(), one(file));
        System.out.println(json(out, ""));
    }

    static Map<String, Object> one(String file) throws Exception {
        Map<String, Object> out = new TreeMap<>();
        Properties p = new Properties();
        try (FileInputStream in = new FileInputStream(file)) {
            p.load(in);
        }
        Map<String, String> props = new TreeMap<>();
        for (String k : p.stringPropertyNames()) props.put(k, p.getProperty(k));
        out.put("properties", props);
        try {
            Object config = Class.forName(PKG + "MirrorMakerConfig").getConstructors()[0].newInstance(props);
            @SuppressWarnings("unchecked")
            Set<String> clusters = new TreeSet<>((Set<String>) call(config, "clusters"));
            out.put("clusters", new ArrayList<>(clusters));
            Set<String> herders = new TreeSet<>();
            for (Object pair : (List<?>) call(config, "clusterPairs")) herders.add(pair.toString());
            out.put("herders", new ArrayList<>(herders));
            Class<?> pairClass = Class.forName(PKG + "SourceAndTarget");
            Map<String, Object> flows = new TreeMap<>();
            for (String a : clusters)
                for (String b : clusters) {
                    if (a.equals(b)) continue;
                    Object pair = pairClass.getConstructor(String.class, String.class).newInstance(a, b);
                    Map<String, Object> flow = new TreeMap<>();
                    Method base = config.getClass().getDeclaredMethod("connectorBaseConfig", pairClass, Class.class);
                    base.setAccessible(true);
                    Map<?, ?> connector = new TreeMap<>((Map<?, ?>) base.invoke(config, pair, Class.forName(PKG + "MirrorSourceConnector")));
                    connector.remove("name");
                    connector.remove("connector.class");
                    flow.put("connector", connector);
                    Method worker = config.getClass().getDeclaredMethod("workerConfig", pairClass);
                    worker.setAccessible(true);
                    flow.put("worker", new TreeMap<>((Map<?, ?>) worker.invoke(config, pair)));
                    flows.put(a + "->" + b, flow);
                }
            out.put("flows", flows);
        } catch (InvocationTargetException e) {
            out.put("error", String.valueOf(e.getCause().getMessage()));
        }
        return out;
    }

    /** The setting names by which MirrorMaker 2 tells client keys and connector keys from all others. */
    static void keys() throws Exception {
        Map<String, Object> out = new TreeMap<>();
        Field f = Class.forName(PKG + "MirrorClientConfig").getDeclaredField("CLIENT_CONFIG_DEF");
        f.setAccessible(true);
        out.put("client", new ArrayList<>(new TreeSet<>(((org.apache.kafka.common.config.ConfigDef) f.get(null)).names())));
        Set<String> names = new TreeSet<>();
        for (String c : List.of("MirrorConnectorConfig", "MirrorSourceConfig", "MirrorCheckpointConfig", "MirrorHeartbeatConfig"))
            try {
                for (Field d : Class.forName(PKG + c).getDeclaredFields())
                    if (d.getType().getSimpleName().equals("ConfigDef") && d.getName().endsWith("_DEF")) {
                        d.setAccessible(true);
                        names.addAll(((org.apache.kafka.common.config.ConfigDef) d.get(null)).names());
                    }
            } catch (ClassNotFoundException e) {
                // before 3.4 there is only MirrorConnectorConfig
            }
        out.put("connector", new ArrayList<>(names));
        System.out.println(json(out, ""));
    }

    static Object call(Object o, String name) throws Exception {
        Method m = o.getClass().getDeclaredMethod(name);
        m.setAccessible(true);
        return m.invoke(o);
    }

    static String json(Object o, String indent) {
        String in = indent + " ";
        StringBuilder b = new StringBuilder();
        if (o instanceof Map) {
            b.append("{");
            String sep = "\n";
            for (Map.Entry<?, ?> e : ((Map<?, ?>) o).entrySet()) {
                b.append(sep).append(in).append(json(e.getKey(), in)).append(": ").append(json(e.getValue(), in));
                sep = ",\n";
            }
            return b.append("\n").append(indent).append("}").toString();
        }
        if (o instanceof List) {
            String sep = "";
            b.append("[");
            for (Object e : (List<?>) o) {
                b.append(sep).append(json(e, in));
                sep = ", ";
            }
            return b.append("]").toString();
        }
        if (o == null) return "null";
        b.append('"');
        for (char c : o.toString().toCharArray())
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        return b.append('"').toString();
    }
}
