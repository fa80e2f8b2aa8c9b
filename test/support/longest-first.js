// The order in which the test files of a run begin. Jest goes by the durations of the last run, but
// a fresh clone has none, and its guess then, the size of the file, puts the longest last: one
// worker would be left alone with it for minutes. JavaScript, because the types of the package
// describe another module than the one that an import gets.

import Sequencer from '@jest/test-sequencer'

/** Parts of paths. What none of them names comes last, in jest's order. */
const order = [
  'test/e2e/chaos.',
  // In the other worker at the same time what only computes: the fleet of the chaos run keeps both
  // cores busy, and what starts processes would wait for it.
  'test/simulation/',
  'test/shared/codec.',
  'test/services/conversation/refold.',
  'test/import-rules.',
  'test/services/guards/shell/',
  'test/services/llm-gateway/valid-',
  'test/services/llm-gateway/stream-proofs.',
  'test/services/accumulator/',
  'test/services/validator/',
  // By the time that they take.
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
