// The order in which the test files of a run begin. Jest sorts by the durations of the last run, but
// a fresh clone has none. Then it sorts by file size, which puts the longest last, and one worker
// runs alone for minutes. This file is JavaScript, because the types of the package describe another
// module than an import gets.

import Sequencer from '@jest/test-sequencer'

/** Parts of paths. All other files come last, in jest's order. */
const order = [
  'test/e2e/chaos.',
  // The other worker gets tests that only compute at the same time. The fleet of the chaos run keeps
  // both cores busy, and tests that start processes would wait for it.
  'test/simulation/',
  'test/shared/codec.',
  'test/services/conversation/refold.',
  'test/import-rules.',
  'test/services/guards/shell/',
  'test/services/llm-gateway/valid-',
  'test/services/llm-gateway/stream-proofs.',
  'test/services/accumulator/',
  'test/services/validator/',
  // The slowest first.
  'test/shared/bus/kafka.int.',
  'test/e2e/kill.',
  'test/shared/bus/kafka/broker-away.',
  'test/e2e/kafka-',
  'test/e2e/',
  'test/support/kafka/',
  'test/package.',
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
