// A lens reads one inbox of a partition and finds the decisions that change.

import type { StoredRecord } from '../../../shared/contract/bus.ts'
import type { TopicRange } from '../log-range.ts'

export type Lens = {
  readonly inbox: TopicRange
  take(record: StoredRecord): Promise<void>
}
