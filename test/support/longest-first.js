// The order in which the test files of a run begin. Jest sorts by the durations of the last run, but
// a fresh clone has none. Then it sorts by file size, which puts the longest last, and one worker
// runs alone for minutes. This file is JavaScript, because the types of the package describe another
// module than an import gets.

import Sequencer from '@jest/test-sequencer'

/** Parts of paths. All other files come last, in jest's order. */
const order = [
  // Most of the end-to-end tier: first the fleet, then the files that compute or start many processes.
  'test/e2e/kafka-upgrade.',
  'test/e2e/chaos.',
  'test/package.',
  'test/simulation/',
  'test/e2e/kill.',
  'test/e2e/ask.',
  'test/e2e/serve.',
  'test/e2e/up.',
  'test/e2e/guard-command.',
  'test/e2e/console.',
  // Most of the integration tier. Two files compute, and the others mostly wait.
  'test/parity/fronts.',
  'test/parity/core.',
  'test/apps/http/fronts/mcp/gateway.',
  'test/apps/replay/judge/one-verdict.',
  'test/shared/bus/kafka.int.',
  'test/apps/http/fronts/mcp/gateway-approvals.',
  'test/shared/bus/kafka/broker-away.',
  'test/parity/memory.',
  'test/hosts/replayed-hosts.',
  'test/shared/tools/module/',
  'test/client/agents/mcp-agents.',
  'test/apps/http/server.',
  'test/client/place/shared-folder.',
  'test/models/guests.',
  'test/client/public-api.',
  'test/support/kafka/',
  // The slowest first.
  'test/e2e/kafka-',
  'test/e2e/',
  'test/import-rules.',
  'test/services/conversation/refold.',
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
