// `make bench`: every bench of the repository in one run, as one table, or those that `--only` names.
// A ratio compares two values of this same run; no value compares across machines. The top of each
// file lists the aspects that it does not measure.

import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { benchAccumulator } from './accumulator.ts'
import { benchAgentLoop } from './agent-loop.ts'
import { benchBus } from './bus.ts'
import { benchCodec } from './codec.ts'
import { benchConsole } from './console.ts'
import { benchConversation } from './conversation.ts'
import { benchEdge } from './edge.ts'
import { benchExecutor } from './executor.ts'
import { benchFirstSecond } from './first-second.ts'
import { benchGuest } from './guest.ts'
import { benchJudgement } from './judgement.ts'
import { benchKafka } from './kafka.ts'
import { benchLibrary } from './library.ts'
import { benchLimits } from './limits.ts'
import { benchLongTurn } from './long-turn.ts'
import { benchLoopDetector } from './loop-detector.ts'
import { benchMcp } from './mcp.ts'
import { benchOperations } from './operations.ts'
import { benchPipeline } from './pipeline.ts'
import { benchProxy } from './proxy.ts'
import { benchProxyLoop } from './proxy-loop.ts'
import { benchReplay } from './replay.ts'
import { benchReport } from './report.ts'
import type { Row } from './row.ts'
import { benchScan } from './scan.ts'
import { benchSearch } from './search.ts'
import { benchStreams } from './streams.ts'
import { benchValidator } from './validator.ts'
import { benchVerdicts } from './verdicts.ts'
import { benchWaiting } from './waiting.ts'

const benches: [string, () => Row[] | Promise<Row[]>][] = [
  ['verdicts', benchVerdicts],
  ['codec', benchCodec],
  ['bus', benchBus],
  ['conversation', benchConversation],
  ['accumulator', benchAccumulator],
  ['streams', benchStreams],
  ['validator', benchValidator],
  ['loop-detector', benchLoopDetector],
  ['judgement', benchJudgement],
  ['executor', benchExecutor],
  ['pipeline', benchPipeline],
  ['long turn', benchLongTurn],
  ['waiting', benchWaiting],
  ['limits', benchLimits],
  ['first second', benchFirstSecond],
  ['guest', benchGuest],
  ['proxy', benchProxy],
  ['proxy loop', benchProxyLoop],
  ['edge', benchEdge],
  ['console', benchConsole],
  ['search', benchSearch],
  ['MCP', benchMcp],
  ['replay', benchReplay],
  ['report', benchReport],
  ['scan', benchScan],
  ['agent loop', benchAgentLoop],
  ['library', benchLibrary],
  ['operations', benchOperations],
  ['Kafka', benchKafka],
]

const { only } = parseArgs({ options: { only: { type: 'string', multiple: true } } }).values
const names = benches.map(([name]) => name)
const unknown = only?.find((name) => !names.includes(name))
if (unknown !== undefined) {
  process.stderr.write(
    `no bench is named ${JSON.stringify(unknown)}; there are: ${names.join(', ')}\n`,
  )
  process.exit(2)
}
process.stdout.write(
  `Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}\n`,
)
for (const [name, bench] of benches) {
  if (only?.includes(name) === false) continue
  process.stdout.write(`\n${name}\n`)
  for (const row of await bench()) process.stdout.write(`  ${lineOf(row)}\n`)
}

function lineOf({ name, value, unit, baseline, ratio, notMeasured }: Row): string {
  if (notMeasured !== undefined) return `${name}: not measured: ${notMeasured}`
  const digits = value >= 100 ? 0 : value >= 1 ? 1 : 3
  const number = value.toLocaleString('en-US', { maximumFractionDigits: digits })
  return `${name.padEnd(72)} ${number.padStart(12)} ${unit}${ratio === undefined ? '' : `   ${ratio.toFixed(2)} x ${baseline}`}`
}
