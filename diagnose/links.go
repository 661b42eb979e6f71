package diagnose

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

var linkNames = [5]string{"replication", "offset syncs", "checkpoints", "commit", "accuracy"}

// links gives one line per link: its status from the findings and rows, and the facts in short.
func (f *flowView) links(r *Report, rows []judged) []LinkStatus {
	for _, fd := range r.Findings {
		f.undiagnosed = f.undiagnosed || fd.Code == 5 && fd.Flow == f.Name()
	}
	out := make([]LinkStatus, 5)
	for i := range out {
		l := finding.Link(i)
		out[i] = LinkStatus{Flow: f.Name(), Link: l, Name: linkNames[i], Status: f.linkStatus(l, r, rows)}
		if code := blockedBy(l, rows, r); out[i].Status != "broken" && code != "" {
			out[i].Status, out[i].Codes = "broken", []string{code}
		}
		for _, fd := range r.Findings {
			if fd.Flow == f.Name() && fd.Severity == finding.Error && out[i].Status != "broken" && explainsAt(fd, l) {
				out[i].Status, out[i].Codes = "broken", []string{fd.CodeText}
			}
		}
		for _, fd := range r.Findings {
			if fd.Flow == f.Name() && fd.Link == l && fd.Severity >= finding.Warning && !slices.Contains(out[i].Codes, fd.CodeText) {
				out[i].Codes = append(out[i].Codes, fd.CodeText)
			}
		}
	}
	f.linkFacts(out, rows)
	for i := range out {
		if f.undiagnosed {
			out[i].Text = "not judged: see MM2D-005"
		}
	}
	return out
}

// explainsAt says that a finding carries an error of a link as its consequence.
func explainsAt(fd finding.Finding, l finding.Link) bool {
	return slices.ContainsFunc(fd.Explains, func(x finding.Effect) bool {
		e := finding.BySlug(x.Slug)
		return x.Severity == finding.Error && e != nil && e.Link == l
	})
}

// blockedBy names the error of an earlier link because of which some row has nothing at this one.
func blockedBy(l finding.Link, rows []judged, r *Report) string {
	if l != finding.LinkCheckpoints && l != finding.LinkCommit {
		return ""
	}
	for i := range rows {
		j := &rows[i]
		missing := l == finding.LinkCheckpoints && j.row.Checkpoint.Absent() || l == finding.LinkCommit && j.row.Committed.Target.Absent()
		if j.row.Disposition != Faulty || !missing {
			continue
		}
		for _, fd := range r.Findings {
			if fd.CodeText == j.row.Status && fd.Severity == finding.Error && fd.Link < l {
				return fd.CodeText
			}
		}
	}
	return ""
}

func (f *flowView) linkStatus(l finding.Link, r *Report, rows []judged) string {
	worst := finding.Severity(0)
	for _, fd := range r.Findings {
		if fd.Flow == f.Name() && fd.Link == l {
			worst = max(worst, fd.Severity)
		}
	}
	switch worst {
	case finding.Error:
		return "broken"
	case finding.Warning:
		return "degraded"
	}
	if f.unread[l] || f.linkUnread(l) || l == finding.LinkAccuracy && (endsUnread(rows) > 0 || f.Syncs.Unknown() && anyTarget(rows)) {
		return "unknown"
	}
	moving := false
	for i := range rows {
		j := &rows[i]
		if j.row.Status == statusUnknown && (j.a.link == l || j.a.link < 0) {
			return "unknown"
		}
		if l == finding.LinkCommit && j.row.Disposition != Intended && j.row.Committed.Target.Unknown() {
			return "unknown"
		}
		moving = moving || j.row.Status == statusMoving && j.a.link == l
	}
	if moving {
		return "moving"
	}
	return "ok"
}

// groupsHidden says that no group of the source is to be seen where ACLs may leave groups out of the list without an error: then
// there may be groups, and nothing is known of them.
func (f *flowView) groupsHidden() bool {
	gs, st := f.src.listed.Get()
	return st == snapshot.Known && len(gs) == 0 && f.src.hidesGroups() != nil
}

// hidesGroups is why a list of groups may lack some, nil where it does not.
func (c *clusterView) hidesGroups() *snapshot.Gap {
	if g := c.GroupsComplete.Why(); g != nil && g.Code == "denied" {
		return g
	}
	return nil
}

// linkUnread says that a link's own facts could not be read at all.
func (f *flowView) linkUnread(l finding.Link) bool {
	if f.src.listed.Unknown() {
		return true // without the source's groups there is nothing to follow
	}
	if f.undiagnosed {
		return true
	}
	if f.groupsHidden() && l >= finding.LinkCheckpoints {
		return true
	}
	switch l {
	case finding.LinkReplication:
		return f.src.Topics.Unknown() || f.dst.Topics.Unknown() || beatsUnread(f.v, subject{flow: f}) != nil
	case finding.LinkSyncs:
		return f.Syncs.Unknown() && !f.everyRowHasCheckpoint()
	case finding.LinkCheckpoints:
		return f.Checkpointed.Unknown() || f.unread[finding.LinkNone]
	case finding.LinkCommit, finding.LinkAccuracy:
		return f.dst.listed.Unknown()
	}
	return false
}

// endsUnread counts offsets on the target whose copy's end could not be read.
func endsUnread(rows []judged) int {
	n := 0
	for i := range rows {
		gp := rows[i].gp
		if rows[i].row.Disposition == Intended || gp.part < 0 || !gp.targetOffset().Known() {
			continue
		}
		if _, ok := gp.targetEnd(); !ok && !gp.targetPartition().Absent() {
			n++
		}
	}
	return n
}

// anyTarget says that there are offsets on the target; whether they are right only offset syncs tell.
func anyTarget(rows []judged) bool {
	return slices.ContainsFunc(rows, func(j judged) bool {
		return j.row.Disposition != Intended && j.gp.part >= 0 && j.gp.targetOffset().Known()
	})
}

func (f *flowView) everyRowHasCheckpoint() bool {
	for _, gp := range f.rows {
		if !gp.checkpoint().Known() {
			return false
		}
	}
	return len(f.rows) > 0
}

func (f *flowView) linkFacts(out []LinkStatus, rows []judged) {
	now := f.v.now
	topics, copies := map[string]bool{}, map[string]bool{}
	withC, withT, unreadT, judgedRows, beyond, frozen := 0, 0, 0, 0, 0, 0
	for i := range rows {
		j := &rows[i]
		if j.row.Disposition == Intended || j.gp.part < 0 {
			continue
		}
		judgedRows++
		topics[j.gp.topic] = true
		if j.gp.targetTopic().Known() {
			copies[j.gp.topic] = true
		}
		if j.row.Checkpoint.Known() {
			withC++
		}
		if j.row.Committed.Target.Unknown() {
			unreadT++
		}
		if t, st := j.gp.targetOffset().Get(); st == snapshot.Known && t >= 0 {
			withT++
			if j.row.Disposition == Faulty {
				frozen++
			}
			if end, ok := j.gp.targetEnd(); ok && t > end {
				beyond++
			}
		}
	}
	out[0].Facts = finding.Observed{{Name: "topics", Value: len(topics)}, {Name: "copies", Value: len(copies)}}
	out[0].Text = fmt.Sprintf("%d of %s that groups read have a copy on %s", len(copies), finding.Count(len(topics), "topic"), f.Target)
	switch s, st := f.Syncs.Get(); st {
	case snapshot.Known:
		out[1].Facts = finding.Observed{{Name: "topic", Value: s.Topic}, {Name: "cluster", Value: s.Cluster}, {Name: "records", Value: s.Records}, {Name: "partitions", Value: len(s.Partitions)}, {Name: "newest", Value: s.Last}}
		out[1].Text = fmt.Sprintf("%s on %s: %d syncs of %s%s", s.Topic, s.Cluster, s.Records, finding.Count(len(s.Partitions), "partition"), newest(s.Last, now))
	case snapshot.Absent:
		out[1].Text = fmt.Sprintf("%s does not exist on %s", f.SyncsTopic, f.SyncsOn)
	default:
		out[1].Text = "not read: " + f.Syncs.Why().String()
	}
	switch c, st := f.Checkpointed.Get(); st {
	case snapshot.Known:
		gs := map[string]bool{}
		for i := range c.Newest {
			gs[c.Newest[i].Group] = true
		}
		out[2].Facts = finding.Observed{{Name: "topic", Value: c.Topic}, {Name: "groups", Value: len(gs)}, {Name: "rows", Value: judgedRows}, {Name: "checkpointed", Value: withC}, {Name: "newest", Value: c.Last}}
		out[2].Text = fmt.Sprintf("%s: %d of %d group-partitions have one%s", c.Topic, withC, judgedRows, newest(c.Last, now))
	case snapshot.Absent:
		out[2].Text = fmt.Sprintf("%s does not exist on %s", f.Checkpoints, f.Target)
	default:
		out[2].Text = "not read: " + f.Checkpointed.Why().String()
	}
	out[3].Facts = finding.Observed{{Name: "rows", Value: judgedRows}, {Name: "committed", Value: withT}}
	out[3].Text = fmt.Sprintf("%d of %d group-partitions have an offset on %s", withT, judgedRows, f.Target)
	if frozen > 0 {
		out[3].Text += fmt.Sprintf(", %d of them faulty", frozen)
	}
	if judgedRows == 0 {
		for _, i := range []int{0, 3} {
			out[i].Text = "no group to follow"
		}
	}
	if unreadT > 0 {
		out[3].Text += fmt.Sprintf(", %d could not be read", unreadT)
	}
	if f.groupsHidden() {
		out[3].Text = "no group of " + f.Source + " is to be seen: " + f.src.hidesGroups().String()
	}
	if f.src.listed.Unknown() {
		out[3].Text = "not read: " + f.src.listed.Why().String()
		out[0].Text, out[4].Text = out[3].Text, "not read"
		return
	}
	if f.dst.listed.Unknown() {
		out[3].Text, out[4].Text = "not read: "+f.dst.listed.Why().String(), "not read"
		return
	}
	out[4].Facts = finding.Observed{{Name: "beyond the end", Value: beyond}}
	out[4].Text = "no offset lies beyond the end of its copy"
	if withT == 0 {
		out[4].Text = "no offset to judge"
	}
	if n := endsUnread(rows); n > 0 {
		out[4].Text = fmt.Sprintf("%s whose copy's end could not be read", finding.Count(n, "offset"))
	}
	if withT > 0 && beyond == 0 && f.Syncs.Unknown() {
		out[4].Text = "no offset lies beyond the end of its copy; without the offset syncs more cannot be told"
	}
	if beyond == 0 && out[4].Status == "broken" {
		out[4].Text = "offsets point at the wrong record"
	}
	if beyond > 0 {
		out[4].Text = fmt.Sprintf("%s beyond the end of the copy", finding.Count(beyond, "offset"))
	}
}

func newest(ms, now int64) string {
	if ms == 0 {
		return ""
	}
	return ", newest " + age(now-ms) + " old"
}
