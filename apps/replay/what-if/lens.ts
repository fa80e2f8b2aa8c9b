// A lens looks at one inbox of a partition and tells what would have been decided otherwise.

import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { TopicRange } from '../log-range.ts'

export type Lens = {
  readonly inbox: TopicRange
  take(record: StoredRecord): Promise<void>
}
