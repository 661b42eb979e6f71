package wire

import (
	"context"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Acl is one rule, in the words of kafka-acls.sh: Resource "TOPIC", Pattern "LITERAL" or "PREFIXED", Operation "READ",
// Permission "ALLOW" or "DENY".
type Acl struct {
	Principal, Host         string
	Resource, Name, Pattern string
	Operation, Permission   string
}

// DescribeAcls lists all rules of the cluster, in the order of the answer. A cluster without an authorizer answers
// SECURITY_DISABLED.
func (c *Client) DescribeAcls(ctx context.Context) ([]Acl, error) {
	const api = "DescribeAcls"
	var out []Acl
	err := c.retry(ctx, func(try int) error {
		n := c.anyNode(try)
		req := kmsg.NewPtrDescribeACLsRequest()
		req.ResourceType, req.ResourcePatternType = kmsg.ACLResourceTypeAny, kmsg.ACLResourcePatternTypeAny
		req.Operation, req.PermissionType = kmsg.ACLOperationAny, kmsg.ACLPermissionTypeAny
		r, err := c.ask(ctx, n, req)
		if err != nil {
			return c.fail(api, n, err)
		}
		resp := r.(*kmsg.DescribeACLsResponse)
		text := resp.ErrorMessage
		if kafka.ErrorCode(resp.ErrorCode).Denied() {
			text = nil // brokers print a Java object here
		}
		if err := c.code(api, n, resp.ErrorCode, text); err != nil {
			return err
		}
		out = []Acl{}
		for _, res := range resp.Resources {
			for _, a := range res.ACLs {
				out = append(out, Acl{Principal: a.Principal, Host: a.Host, Resource: res.ResourceType.String(), Name: res.ResourceName, Pattern: res.ResourcePatternType.String(),
					Operation: a.Operation.String(), Permission: a.PermissionType.String()})
			}
		}
		return nil
	})
	return out, err
}
