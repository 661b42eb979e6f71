package security

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseJAAS(t *testing.T) {
	for _, tt := range []struct {
		text string
		want map[string]string
		err  string
	}{
		{`a.B required username="app" password="x";`, map[string]string{"username": "app", "password": "x"}, ""},
		{"a.B required \n\tusername='app'  password = \"x\" ;  ", map[string]string{"username": "app", "password": "x"}, ""},
		{`a.B REQUIRED username=app password=x;`, map[string]string{"username": "app", "password": "x"}, ""},
		{`a.B required password="a\"b\\c;d=e'f//g/*h";`, map[string]string{"password": `a"b\c;d=e'f//g/*h`}, ""},
		{`a.B required password='it is "so"';`, map[string]string{"password": `it is "so"`}, ""},
		{`a.B required password="\101\n\q";`, map[string]string{"password": "A\nq"}, ""},
		{`a.B required password="\400\08";`, map[string]string{"password": " 0\x008"}, ""},
		{`a.B required /* no */ username="u" // rest
			password="p";`, map[string]string{"username": "u", "password": "p"}, ""},
		{`a.B required username="";`, map[string]string{"username": ""}, ""},
		{`a.B required user_admin-x$="1" password="пароль";`, map[string]string{"user_admin-x$": "1", "password": "пароль"}, ""},
		{`a.B required user="a" user="b";`, map[string]string{"user": "b"}, ""},
		{`a.B required;`, map[string]string{}, ""},
		{``, nil, "names no login module"},
		{`;`, nil, "does not begin with the class"},
		{`a.B`, nil, "flag behind the login module is missing"},
		{`a.B username="u";`, nil, "not required, requisite"},
		{`a.B required username="u"`, nil, `semicolon at the end is missing (behind option "username")`},
		{`a.B required`, nil, "semicolon at the end is missing (behind the flag)"},
		{`a.B required username "u";`, nil, "not followed by ="},
		{`a.B required username=;`, nil, `option "username" has no value`},
		{`a.B required password=12s3cret;`, nil, `the value of option "password" begins like a number`},
		{`a.B required password=-s3cret;`, nil, `option "password" has no value, or one that needs quotes`},
		{`a.B required password=@s3cret;`, nil, "needs quotes"},
		{`a.B required password=ab!s3cret;`, nil, `behind option "password" stands something`},
		{`a.B required password="ab"s3cret";`, nil, "not followed by ="},
		{`a.B required password="ab"s3cret=12;`, nil, "the value of an option begins like a number"},
		{"a.B required password=\"s3cret\n;", map[string]string{"password": "s3cret"}, ""}, // Java ends a quote at the line's end
	} {
		got, err := parseJAAS(tt.text)
		switch {
		case err != nil && (tt.want != nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%q: %v", tt.text, err)
		case err != nil && strings.Contains(err.Error(), "s3cret"):
			t.Errorf("%q shows a secret: %v", tt.text, err)
		case err == nil && (len(got) != 1 || got[0].class != "a.B" || !reflect.DeepEqual(got[0].options, tt.want)):
			t.Errorf("%q: %+v", tt.text, got)
		}
	}
}

func FuzzJAAS(f *testing.F) {
	for _, s := range []string{plainJAAS, `a.B required password='x\101' /* c */ // d`, "a b c=d;e f g=\"h", `a required x="\`, `a required x=/*`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, err := parseJAAS(s)
		if (err == nil) != (len(ms) > 0) {
			t.Fatalf("%d modules, %v", len(ms), err)
		}
		for _, m := range ms {
			if m.class == "" && !strings.ContainsAny(s, `"'`) {
				t.Fatal("a module without a class")
			}
		}
	})
}

func FuzzProperties(f *testing.F) {
	f.Add("SASL_SSL", "PLAIN", plainJAAS, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
	f.Fuzz(func(t *testing.T, protocol, mech, jaas, pem string) {
		s, err := FromProperties(map[string]string{"security.protocol": protocol, "sasl.mechanism": mech, "sasl.jaas.config": jaas, "ssl.truststore.type": "PEM", "ssl.truststore.certificates": pem})
		if err != nil {
			if e, ok := err.(*Error); !ok || e.Why == "" || e.Next == "" {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if strings.HasPrefix(s.Protocol, "SASL") != (s.SASL != nil) {
			t.Fatalf("%+v", s)
		}
	})
}
