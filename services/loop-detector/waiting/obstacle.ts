// An answer with the reason why a thing cannot start: no node has room for a pod, or nobody can pull its
// image. No wait ends that, unless the cluster adds a node.

/** Linear in the ends of the text, where a table and the events of a thing stand. */
export function isBlocked(text: string): boolean {
  const ends = text.length <= 2 * endCharsMax ? text : head(text) + text.slice(-endCharsMax)
  return blocked.test(ends) && !growing.test(ends)
}

const endCharsMax = 1_024
const head = (text: string) => `${text.slice(0, endCharsMax)}\n`

/** The last one: a pod that is pending for a quarter of an hour, by its own age. */
const blocked = new RegExp(
  [
    String.raw`FailedScheduling|Unschedulable|\bnodes are available\b|unbound immediate PersistentVolumeClaims`,
    'ImagePullBackOff|ErrImagePull|InvalidImageName|CreateContainerConfigError|FailedMount|exceeded quota',
    String.raw`Could\snot\sget\slock|\bis\sheld\sby\sprocess\s\d`,
    String.raw`\bPending\s{1,20}\d{1,4}\s{1,20}(?:(?:1[5-9]|[2-9]\d|\d{3,4})m|\d{1,3}[hd])`,
  ].join('|'),
)
const growing = /TriggeredScaleUp|scal(?:ed|ing) up/i
