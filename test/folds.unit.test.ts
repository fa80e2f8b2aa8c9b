// The places outside services and shared/view that tell records apart, each with its reason.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'

type Source = { file: string; source: string }

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * Files that tell several types of records apart, although `shared/view` folds the records of a turn.
 * Each one is one of these:
 * - events: turns each record or event into events, lines or spans of one protocol
 * - window: sums over a bounded time, which must not hold the view of each turn
 * - search: looks for records in a log, and keeps none of a turn
 * - replay: compares the decisions of stages
 * - wait: a driver that waits for a record
 */
const foldsElsewhere: Record<string, 'events' | 'window' | 'search' | 'replay' | 'wait'> = {
  'apps/demo/screen.ts': 'events',
  'apps/history/agents-in-log.ts': 'search',
  'apps/history/inspect/recorded.ts': 'search',
  'apps/http/console/state/inbox.ts': 'window',
  'apps/http/console/state/stops.ts': 'window',
  'apps/http/edge/ag-ui/ag-fold.ts': 'events',
  'apps/http/edge/chat/turn-calls.ts': 'events',
  'apps/http/edge/responses/response-events.ts': 'events',
  'apps/http/edge/ui-stream/ui-fold.ts': 'events',
  'apps/http/webhook/webhook-events.ts': 'events',
  'apps/http/webhook/webhook-feed.ts': 'window',
  'apps/replay/beginnings.ts': 'replay',
  'apps/replay/judge/play.ts': 'replay',
  'apps/replay/what-if/policy-lens.ts': 'replay',
  'apps/service/approvals/asker.ts': 'wait',
  'apps/service/budgets/accounts.ts': 'search',
  'apps/service/metrics/metrics.ts': 'window',
  'apps/terminal/text/transcript.ts': 'events',
  'apps/traces/turn-spans.ts': 'events',
  'client/bundle/copy.ts': 'search',
  'client/bundle/record-sinks.ts': 'search',
  'client/conversation/conversation-events.ts': 'search',
  'client/forget/rest.ts': 'search',
  'client/guard/front.ts': 'wait',
  'client/history/redacted.ts': 'search',
  'client/search/turn-index.ts': 'search',
  'client/turn/event-fold.ts': 'events',
  'client/turn/event-queue.ts': 'events',
  'client/turn/turn-events.ts': 'events',
}

test('the records of a turn are folded in shared/view, and elsewhere only for a named reason', () => {
  const above = ['apps', 'client'].flatMap(sourcesIn).filter(({ file }) => !/\/page\//.test(file))
  const types = recordTypes()
  expect(types.length).toBeGreaterThan(50)
  expect(foldsIn(above, types)).toEqual(Object.keys(foldsElsewhere))
})

test('a fold is a file that tells three types of records apart', () => {
  const types = ['turn-started', 'turn-finished', 'call-finished']
  const folding = `switch (one.type) { case 'turn-started': case 'turn-finished': }`
  expect(foldsIn([{ file: 'apps/x.ts', source: folding }], types)).toEqual([])
  const source = `${folding}; if (one.type !== 'call-finished') stop()`
  expect(foldsIn([{ file: 'apps/x.ts', source }], types)).toEqual(['apps/x.ts'])
})

/** Files that compare the types of records with at least three names. */
function foldsIn(files: Source[], types: readonly string[]): string[] {
  const isFold = ({ source }: Source): boolean => {
    const compared = [...source.matchAll(/(?:case|\.type [!=]==) '([a-z-]+)'/g)].map(
      ([, type]) => type,
    )
    return types.filter((type) => compared.includes(type)).length > 2
  }
  return files
    .filter(isFold)
    .map(({ file }) => file)
    .sort()
}

function recordTypes(): string[] {
  const source = readFileSync(join(root, 'shared/contract/messages.ts'), 'utf8')
  return [...source.matchAll(/^ {2}type: '([a-z-]+)'/gm)].map(([, type = '']) => type)
}

function sourcesIn(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name))
    .map((file) => ({ file, source: readFileSync(join(root, file), 'utf8') }))
}
