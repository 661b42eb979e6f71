package collect

import (
	"fmt"
	"strings"
	"testing"
)

// TestRedact: credentials leave a stack trace in whatever form they stand there; what names the fault stays.
func TestRedact(t *testing.T) {
	for _, tt := range []struct{ in, keep string }{
		{`ConfigException: Invalid value pass=1 password=hunter2 for sasl`, "for sasl"},
		{`password = "hunter2 hunter2", x`, ", x"},
		{`ssl.key.password: 'hunter2'; then`, "; then"},
		{`"ssl.keystore.password" : "hunter2"`, "ssl.keystore.password"},
		{`sasl.jaas.config=org.x.PlainLoginModule required username="u" password="hunter2";`, `username="u"`},
		{`aws.secret.access.key=hunter2 region=eu`, "region=eu"},
		{`AWS_ACCESS_KEY_ID=hunter2`, "AWS_ACCESS_KEY_ID"},
		{`clientSecret=hunter2`, "clientSecret"},
		{`basic.auth.user.info=user:hunter2`, "basic.auth"},
		{`GET https://user:hunter2@registry:8081/subjects failed`, "@registry:8081/subjects failed"},
		{`Authorization: Bearer hunter2hunter2`, "Authorization"},
		{`Authorization: Basic aHVudGVyMg==hunter2`, "Authorization"},
		{`api.key=hunter2`, "api.key"},
		{`api_key: hunter2`, "api_key"},
		{`AccountKey=hunter2==;Endpoint=x`, "Endpoint=x"},
	} {
		got := shortTrace(tt.in + "\n\tat a.b(C.java:1)")
		if strings.Contains(got, "hunter2") || !strings.Contains(got, tt.keep) || !strings.Contains(got, "[removed]") {
			t.Errorf("%s\n%s", tt.in, got)
		}
	}
	for _, plain := range []string{
		"org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [orders]",
		"java.lang.IllegalArgumentException: Unclosed group near index 9",
		"Connection to node -1 (b/10.0.0.1:9092) could not be established. Node may not be available.",
	} {
		if got := shortTrace(plain); got != plain {
			t.Errorf("%s became %s", plain, got)
		}
	}
	if got := shortTrace("A: x\n\tat a.b(C.java:1)\nCaused by: B: y\n\tat c\nCaused by: C: z\n\tat d\n\t... 9 more"); got != "A: x; Caused by: C: z" {
		t.Errorf("first and last cause: %s", got)
	}
	if got := shortTrace(""); got != "" {
		t.Errorf("%q", got)
	}
}

func TestStatusKey(t *testing.T) {
	for key, want := range map[string]string{"status-connector-MirrorSourceConnector": "MirrorSourceConnector -1", "status-task-MirrorSourceConnector-12": "MirrorSourceConnector 12",
		"status-task-a-b-0": "a-b 0", "status-task-x": "", "status-topic-orders:connector-x": "", "": "", "status-task--1": " 1"} {
		got, ok := statusKey(key)
		text := ""
		if ok {
			text = fmt.Sprint(got.Connector, " ", got.Task)
		}
		if text != want {
			t.Errorf("%s: %q, want %q", key, text, want)
		}
	}
}
