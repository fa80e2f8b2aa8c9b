// The order in which the test files of a run begin. Jest sorts by the durations of the last run, but
// a fresh clone has none. Then it sorts by file size, which puts the longest last, and one worker
// runs alone for minutes. This file is JavaScript, because the types of the package describe another
// module than an import gets.

import Sequencer from '@jest/test-sequencer'

/** Parts of paths. All other files come last, in jest's order. */
const order = [
  'test/e2e/chaos.',
  // The fleet of the chaos run keeps the cores busy. Beside it, the simulation only computes.
  'test/simulation/',
  // The slowest first.
  'test/e2e/kill.',
  'test/package.',
  'test/shared/bus/kafka.int.',
  'test/shared/bus/kafka/broker-away.',
  'test/services/llm-gateway/bad-server.',
  'test/e2e/kafka-',
  'test/e2e/',
  'test/support/kafka/',
  'test/services/conversation/refold.',
  'test/import-rules.',
  'test/services/guards/shell/',
  'test/services/llm-gateway/stream-proofs.',
  '.int.test.ts',
]

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const place = ({ path }) => {
      const at = order.findIndex((part) => path.includes(part))
      return at < 0 ? order.length : at
    }
    return super.sort(tests).sort((one, other) => place(one) - place(other))
  }
}
