import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.*;

/**
 * Writes what java.util.Properties makes of hand-written and of random texts, one JSON object a line:
 * {"in": text with one character a byte, "entries": [[key, value], ...] in the order of the file, or null when refused}.
 *
 *   java PropertiesVectors.java > properties-vectors.jsonl        (Java 17)
 */
public class PropertiesVectors {
    static final String[] WRITTEN = {
        "", "\n", "# only\n", "a=b", "a = b\n", "a:b\n", "a b\n", "a\tb", "a\fb", "a == b\n", "a : = b\n", "a  =  = b\n", "a", "a=", "=b", " = b", ":", "=",
        "  a = b  \n", "a=b # c\n", "#a=b\r\n!c=d\r\ne=f\r\n", " # indented comment\na=b", "a=b\\\n  c\n", "a=b\\\r\n\t c\r\n", "a=b\\\\\nc=d\n", "a=b\\\\\\\nc\n",
        "a=b\\", "a=b\\\n", "a=b\\\n\nc=d\n", "a=b\\\n#c\nd=e\n", "a=\\\n#c\n", "\\\n#c\nd=e\n", "\\\n\\\na=b", "\\", "\\\n", "\\\n\\", "\\\n\\\n", "\\\n a", "a\\\n=b", "a\\\n b\\\n c=d",
        "a\\=b=c\n", "a\\:b:c", "a\\ b c", "a\\\\=b", "\\#a=b", "a=\\u0041\\u00e9", "a=\\u004", "a=\\uzzzz", "a=\\u004g\nb=c", "\\u0061=b", "a=\\u0020b", "a=\\U0041",
        "a=\\ud83d\\ude00", "a=\\ud83d", "a=\\t\\n\\r\\f\\v\\q\\\"\\'", "a=1\na=2\nb=3\na=4\n", "a=b\rc=d\r", "a=b\n\rc=d", "\u00ef\u00bb\u00bfclusters=a,b\n", "a=caf\u00c3\u00a9\n", "a=\u0000b\n",
        "east -> west.enabled true\n", "{\n \"name\": \"x\"\n}\n", "a.b=c\\,d", "clusters: A, B\nA->B.enabled = true\n", "a=b\\\n\\\nc=d", "a=b\\\n  \\\n  c", "a=\\\n\\\n", "a=\\", "#\\\na=b", "# x\\\r\n  y=z",
    };

    public static void main(String[] args) {
        for (String s : WRITTEN) vector(s);
        Random r = new Random(20210817);
        String alphabet = "ab=: \t\f\\\\\\\n\n\r#!u0041e9";
        for (int i = 0; i < 3000; i++) {
            StringBuilder b = new StringBuilder();
            int n = r.nextInt(24);
            for (int j = 0; j < n; j++) b.append(alphabet.charAt(r.nextInt(alphabet.length())));
            vector(b.toString());
        }
    }

    static void vector(String text) {
        List<String[]> entries = new ArrayList<>();
        Properties p = new Properties() {
            @Override
            public synchronized Object put(Object k, Object v) {
                entries.add(new String[] {(String) k, (String) v});
                return super.put(k, v);
            }
        };
        boolean refused = false;
        try {
            p.load(new ByteArrayInputStream(text.getBytes(StandardCharsets.ISO_8859_1)));
        } catch (IllegalArgumentException e) {
            refused = true;
        } catch (java.io.IOException e) {
            throw new RuntimeException(e);
        }
        StringBuilder b = new StringBuilder("{\"in\":" + quote(text) + ",\"entries\":");
        if (refused) b.append("null");
        else {
            b.append("[");
            String sep = "";
            for (String[] e : entries) {
                b.append(sep).append("[").append(quote(e[0])).append(",").append(quote(e[1])).append("]");
                sep = ",";
            }
            b.append("]");
        }
        System.out.println(b.append("}"));
    }

    static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray())
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        return b.append('"').toString();
    }
}
