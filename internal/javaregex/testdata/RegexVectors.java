import java.util.*;
import java.util.regex.*;

/**
 * Writes what java.util.regex.Pattern makes of hand-written and of random patterns. The first line is the list of strings
 * that all patterns are tried on; then one JSON object for each pattern: {"p": pattern, "err": description, "at": index} or
 * {"p": pattern, "m": one character for each string, 1 where matches() holds}.
 *
 *   java RegexVectors.java > regex-vectors.jsonl        (Java 17)
 */
public class RegexVectors {
    static final String[] WRITTEN = {
        // lists of MirrorMaker 2 as people write them
        ".*", ".+", "", "orders", "orders.*", "orders|payments", "orders\\..*", "a.b", ".*[\\-\\.]internal|.*\\.replica|__.*", "mm2.*\\.internal|.*\\.replica|__.*",
        "console-consumer-.*|connect-.*|__.*", "(?!__).*", "^(?!orders).*$", "(?!.*-internal$).*", "^((?!internal).)*$", ".*(?<!-test)", ".*(?<=-test)", "(?i)ORDERS.*|Payments", "ORDERS|(?i:payments)",
        "(?i)a|B", "(a(?i)b|C)d", "(?i)[a-c]x", "(?i)[^a]", "(?-i)a", "(?i-s:A)b", "orders-[0-9]{1|3}", "orders-[0-9]{1,3}", "[a-z]+-[0-9]+", "*", "*.orders", "orders*", "?a", "+", "a**", "a*+", "a++", "a?+b", "a??",
        "foo-{env}", "${env}", "{{ topics }}", "{env}", "x{", "x{1", "x{1,", "x{1,2", "x{2,1}", "a{,3}", "a{2}", "a{2,}", "a{2,3}", "a{2}{3}", "{3}", "a{0}", "a{2}+", "a{1,2}?b", "a{99999999999}", "a{1 }", "a{1, 2}", "a{ 1}",
        "(", ")", "(a", "a)", "(a))", "()", "(|a)", "a|", "|a", "||", "(?:a", "(?:a)", "(?<n>a)b\\k<n>", "(?<n>a)(?<n>b)", "(?<1>a)", "(?<n a)", "\\k<n>", "\\kn", "(?P<n>a)", "(?a)", "(?$a)", "(?@a)", "(?", "(?:", "(?<", "(?<a", "(?i", "(?i)", "(?-)", "(?#c)a", "(?'n'a)",
        "[", "[]", "[]a]", "[^]", "[^]a]", "[^^]", "[a", "[a-", "[a-]", "[-a]", "[a-z", "[z-a]", "[a-z&&[^x]]", "[a-z&&[def]]", "[a-z&&def]", "[a-z&&b-d&&c]", "[a&&b[c]]", "[a-c&&[b][c]d]", "[abc&&]", "[&&abc]", "[&&]", "[a&b]", "[a&&&b]", "[a&&&&b]", "[a[bc]]", "[a[bc]d-f]", "[^a[bc]]", "[^a&&[^b]]", "[[a-c]&&[b-d]]", "[a-[bc]]", "[a-\\d]", "[\\d-a]", "[\\w&&[^\\d]]", "[\\]a]", "[\\[a]", "[a\\-z]", "[.]", "[*+?{}()|^$]", "[[:alpha:]]", "[\\Q^]\\E]", "[\\v-z]", "[\\h]", "[a-c-e]", "[a--]", "[!--]", "[a-z-9]", "[]-a]", "[\\x41-\\x43]", "[^\\W]", "[[^a]b]", "[^[^a]]",
        "\\", "a\\", "\\Q", "\\Qa.b\\E", "\\Qa.b", "\\Qa.b\\E.*", "a\\Q.\\E\\Q-\\E", "\\Q1\\E", "\\x3\\Q1\\E", "\\E", "\\Q\\E", "\\Qa\\Eb\\Qc", "(?i)\\Qab\\E", "\\Q[\\E", "\\Q\\\\E", "\\.", "\\-", "\\_", "\\/", "\\y", "\\i", "\\z", "a\\z", "\\Aa", "\\Za", "a\\Z", "\\Ga", "\\ba\\b", "a\\Bb", ".*\\borders\\b.*", "\\b{g}a", "\\b{x}", "\\d+", "\\D", "\\w+", "\\W", "\\s", "\\S+", "\\h", "\\H", "\\v", "\\V", "\\R", "\\X", "\\N{SPACE}", "\\Na",
        "\\0", "\\08", "\\07", "\\061", "\\0141", "\\0777", "\\x", "\\x4", "\\x41", "\\x{41}", "\\x{41", "\\x{110000}", "\\x{}", "\\u0041", "\\u004", "\\u{41}", "\\ud83d\\ude00", "\\cA", "\\c", "\\a\\e\\f\\n\\r\\t", "\\1", "(a)\\1", "(a)\\2", "(a|b)\\1", "(a)(b)\\12", "\\8", "(\\1a)",
        "\\p{Alpha}+", "\\p{Alnum}*", "\\P{Alpha}", "\\p{L}+", "\\pL", "\\pLu", "\\PL", "\\p{Lu}", "\\p{IsLu}", "\\p{IsL}", "\\p{Lower}", "\\p{Upper}", "\\p{Punct}", "\\p{Digit}", "\\p{XDigit}+", "\\p{Space}", "\\p{Blank}", "\\p{Cntrl}", "\\p{Graph}", "\\p{Print}", "\\p{ASCII}+", "\\p{IsLatin}", "\\p{IsAlphabetic}", "\\p{InGreek}", "\\p{javaLowerCase}", "\\p{javaUpperCase}", "\\p{javaLetter}", "\\p{javaDigit}", "\\p{all}", "\\p{L1}", "\\p{LC}", "\\p{LD}", "\\p{Foo}", "\\p{IsFoo}", "\\p{InFoo}", "\\p{}", "\\p{", "\\p{L", "\\p", "\\pX", "\\p{sc=Latin}", "\\p{foo=bar}", "\\p{gc=Lu}", "\\p{Nd}", "\\p{Pc}", "\\p{Pd}", "\\p{S}", "\\p{Zs}", "\\p{Cn}", "[\\p{Alpha}&&[^a]]", "[\\p{L}\\d]", "[^\\p{Lu}]", "(?i)\\p{Digit}",
        "(?s).", ".", "(?d).", "(?m)^a$", "^a$", "a^", "$a", "a$b", "^*a", "$+", "a$|b", "(?x) a b # c", "(?x:a b)c", "(?x)(a # )\n)", "(?u)a", "(?iu)a", "(?U)\\w", "(?c)a", "(?ims)A",
        "(?>a|ab)c", "(?>a*)ab", "(?>a*)b", "a*+a", "a*+b", "(a*+)b", "(a|ab)*+c", "(?=a)a", "(?=b)a", "(?!a)a", "(?!b)a", "(?=.*b).*", "(?<=a)b", "a(?<=a)b", "a(?<!a)b", "a(?<=x*)b", "a(?<=x+)b", "(?<=(a|b){1,2})c", "(?<=a{1,2})b", "(?<!a|bc)d", "(a+)+", "(a+)+\\1", "(?:a|a)*+b", "(?=(a+)+$)a", "(a|b)*?c", "(?!a.*|b.*).+", "(?![ab]).*", "((?!a).)*",
        "]", "}", "a]", "a}", "a}b{1}", "a{1}}", "-", "=", "#", "!", ",", "a,b", "'a'", "\"a\"", " a", "a ", "a b", "\u00e9", "(?i)\u00e9", "[\u00e0-\u00ff]", "\ud83d\ude00", "[\ud83d\ude00a]", "\u0000", "a\u0000b",
    };

    static final String[] STRINGS = {
        "", "a", "b", "c", "d", "ab", "ba", "aa", "aaa", "abc", "abd", "aab", "aaab", "bb", "ac", "bc", "aabb", "A", "B", "AB", "aB", "C", "Z", "z", "x", "0", "1", "9", "12", "a1", "1a", "a-1", "a.b", "axb", "a-b", "a_b", "_", "-", ".", "^", "]", "[", "}", "{", "&", "$", "*",
        "a]", "a}", "a b", " ", " a", "a,b", "a|b", "orders", "Orders", "ORDERS", "orders-7", "orders-1234", "orders.eu", "payments", "PAYMENTS", "my.orders", "orders-internal", "orders.internal", "mm2-offset-syncs.b.internal", "x.replica", "__consumer_offsets", "console-consumer-1", "connect-sink", "group-test", "foo-env",
        "foo-{env}", "\t", "\u000b", "\n", "a\n", "\r\n", "\u0085", "\u2028", "\u00e9", "\u00c9", "\u00e9a", "\u03b1", "\ud83d\ude00", "\u00a0", "\u017f", "\u212a", "a\u0000b", "\u0000", "!", "#", "~", "/", "bcd", "bd", "cc", "aaaa", "aaaaaa", "abab", "x41", "A1b2-C3_d4.e5",
    };

    static Random r = new Random(20200416);

    public static void main(String[] args) {
        StringBuilder b = new StringBuilder("[");
        for (String s : STRINGS) b.append(b.length() > 1 ? "," : "").append(quote(s));
        System.out.println(b.append("]"));
        Set<String> seen = new HashSet<>();
        for (String p : WRITTEN) if (seen.add(p)) vector(p);
        for (int i = 0; i < 2500; i++) {
            String p = grammar(3);
            if (seen.add(p)) vector(p);
        }
        String soup = "ab1.-*+?{}()[]^$|\\&,QEdpx:<=!i";
        for (int i = 0; i < 4000; i++) {
            StringBuilder s = new StringBuilder();
            for (int n = r.nextInt(9); n >= 0; n--) s.append(soup.charAt(r.nextInt(soup.length())));
            if (seen.add(s.toString())) vector(s.toString());
        }
    }

    static String grammar(int depth) {
        StringBuilder s = new StringBuilder();
        for (int n = r.nextInt(3); n >= 0; n--) {
            switch (depth == 0 ? r.nextInt(4) : r.nextInt(12)) {
                case 0: case 1: s.append(pick("a", "b", "c", "A", "-", "\\.", "1", "_")); break;
                case 2: s.append(pick(".", "\\w", "\\d", "\\p{Alpha}", "\\S", "[abc]", "\\Qa.b\\E", "\\b", "^", "$")); break;
                case 3: s.append(members(2)); break;
                case 4: s.append("(").append(grammar(depth - 1)).append(")"); break;
                case 5: s.append(pick("(?:", "(?:", "(?i:", "(?>", "(?=", "(?!", "(?<=", "(?<!")).append(grammar(depth - 1)).append(")"); break;
                case 6: s.append(grammar(depth - 1)).append("|").append(grammar(depth - 1)); break;
                case 7: s.append(pick("(?i)", "(?s)", "\\1", "", "")); break;
                default: s.append(pick("a", "b", "[ab]", ".", "ab"));
            }
            if (r.nextInt(3) == 0) s.append(pick("*", "+", "?", "{2}", "{1,2}", "{1,}", "*?", "*+", "++", "?+"));
        }
        return s.toString();
    }

    static String members(int depth) {
        StringBuilder s = new StringBuilder("[");
        if (r.nextInt(4) == 0) s.append("^");
        for (int n = r.nextInt(4); n >= 0; n--)
            switch (r.nextInt(depth > 0 ? 8 : 5)) {
                case 0: s.append(pick("a-c", "b-z", "0-9", "A-C")); break;
                case 1: s.append(pick("\\d", "\\w", "\\s", "\\p{Upper}")); break;
                case 2: case 3: case 4: s.append(pick("a", "b", "c", "-", ".", "&", "^", "\\]")); break;
                case 5: s.append(members(depth - 1)); break;
                case 6: s.append("&&").append(pick("", "[^a]", "[ab]", "abc", "b-c", "[a-d][x]c")); break;
                default: s.append("x");
            }
        return s.append("]").toString();
    }

    static String pick(String... s) {
        return s[r.nextInt(s.length)];
    }

    static void vector(String p) {
        StringBuilder b = new StringBuilder("{\"p\":" + quote(p));
        try {
            Pattern q = Pattern.compile(p);
            StringBuilder m = new StringBuilder();
            for (String s : STRINGS) m.append(q.matcher(s).matches() ? '1' : '0');
            b.append(",\"m\":\"").append(m).append("\"}");
        } catch (PatternSyntaxException e) {
            b.append(",\"err\":").append(quote(e.getDescription())).append(",\"at\":").append(e.getIndex()).append("}");
        } catch (RuntimeException e) { // Java's own faults
            b.append(",\"fault\":").append(quote(e.getClass().getSimpleName())).append("}");
        }
        System.out.println(b);
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
