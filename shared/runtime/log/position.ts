// The content of a commit: the end of the finished records, the start for folding, and the marks at
// that start. They are one atomic pair, and stay true once the outputs are acknowledged. Newer
// marks would drop the open unit's own records as repeats.

import type { Assignment, Commit, Offset } from '../../contract/bus.ts'
import { WeirError } from '../../lib/errors.ts'
import { objectIn } from '../../lib/json/json-object.ts'
import type { Marks } from '../derived-id.ts'
import type { Refused } from './refusals.ts'

/**
 * `done`: all records before it are done. `from`: the first record of the oldest open unit, or
 * `done`. `marks`: the marks at `from`. `refused`: the refused records from `from` on;
 * absent: none.
 */
export type Position = { done: Offset; from: Offset; marks: Marks; refused?: Refused | undefined }

/** The metadata is made on access: the next commit overtakes most commits before they are written. */
export function toCommit({ done, from, marks, refused }: Position): Commit {
  return {
    offset: done,
    get metadata() {
      return JSON.stringify({ from, marks, refused })
    },
  }
}

/**
 * The start after an assignment. Without a commit: the log's begin. A commit without metadata (an
 * operator's reset): fold from the log's begin up to its offset. A commit outside the log, or one
 * whose "fold from" was deleted, is an error, because part of the history is missing.
 */
export function positionAt({ topic, ends, committed }: Assignment): Position {
  if (committed === undefined) return { done: ends.begin, from: ends.begin, marks: {} }
  const { from, marks, refused } =
    committed.metadata === ''
      ? {
          from: Math.min(ends.begin, committed.offset),
          marks: {},
          refused: { offsets: [], forgottenTo: committed.offset },
        }
      : parseMetadata(topic, ends.partition, committed)
  if (committed.offset > ends.end || from < ends.begin || from > committed.offset)
    throw new WeirError(
      'bus.commit-outside-log',
      `${topic}/${ends.partition}: the commit (done ${committed.offset}, fold from ${from}) is outside the log (${ends.begin} to ${ends.end}). ` +
        'The topic was recreated, or retention is shorter than the longest turn. weir reset repairs it, or explains why it cannot.',
    )
  return { done: committed.offset, from, marks, refused }
}

/** "Fold from" of a commit: retention must keep the records from there on. */
export function foldFrom(commit: Commit): Offset {
  return commit.metadata === '' ? 0 : (JSON.parse(commit.metadata) as Position).from
}

function parseMetadata(topic: string, partition: number, commit: Commit): Omit<Position, 'done'> {
  const { from, marks, refused } = objectIn(commit.metadata) ?? {}
  if (typeof from === 'number' && typeof marks === 'object' && marks !== null)
    return { from, marks: marks as Marks, refused: refused as Refused | undefined }
  throw new WeirError(
    'bus.commit-outside-log',
    `${topic}/${partition}: the commit's metadata ${JSON.stringify(commit.metadata.slice(0, 200))} is not Weir's. Is another consumer using this group? weir reset repairs it.`,
  )
}
