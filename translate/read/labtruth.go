//go:build labtruth

package read

// In a build with the tag labtruth the running numbers of the lab's records cannot be seen, so that they can judge the comparison:
// two records that differ in nothing else stay alike.
func init() { unseen = []string{"lab-truth"} }
