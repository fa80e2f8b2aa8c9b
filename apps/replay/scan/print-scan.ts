// The screen of `weir scan`.

import { join } from 'node:path'
import { hostNamed } from '../../../shared/hosts/hosts.ts'
import { ownCommand } from '../../terminal/own-command.ts'
import { painted } from '../../terminal/paint.ts'
import { printable } from '../../terminal/text/printable.ts'
import { count, number } from '../../terminal/text/quantities.ts'
import type { Scanned, ScannedAgent, ScannedLoop } from './scan-totals.ts'
import { sessionStores } from './session-files.ts'

export function printScan(scanned: Scanned, out: NodeJS.WriteStream): void {
  const line = (text: string, tone: Parameters<typeof painted>[1] = 'plain') =>
    out.write(`${text === '' ? '' : painted(out, tone, printable(text))}\n`)
  const weir = ownCommand(process.env, process.cwd())
  const { agents, worst, failing, storm, leftOut } = scanned
  if (agents.length === 0) {
    line(`No session was found. ${placesText()}`)
    for (const text of leftOut.map(leftOutText)) line(text, 'faint')
    return
  }
  for (const agent of agents) line(agentText(agent))
  line('')
  line(verdictText(scanned), scanned.loops > 0 ? 'bad' : 'good')
  for (const [at, loop] of worst.entries()) {
    line('')
    line(`${at + 1}. ${loopText(loop)}`)
    line(`   ${loop.rule}: ${loop.reason}`)
    line(`   ${loop.file}`, 'faint')
  }
  if (scanned.loops > worst.length) {
    line('')
    line(`and ${count(scanned.loops - worst.length, 'further loop')}`, 'faint')
  }
  if (failing.length > 0) {
    line('')
    line('Tools that fail most:')
    for (const { agent, tool, calls, failed } of failing)
      line(`  ${tool} (${titleOf(agent)}): ${number(failed)} of ${count(calls, 'call')}`)
  }
  if (storm !== null) {
    line('')
    line(`${storm.subAgents} sub-agents in one session of ${titleOf(storm.agent)}:`)
    line(`   ${storm.file}`, 'faint')
  }
  if (leftOut.length > 0) line('')
  for (const text of leftOut.map(leftOutText)) line(text, 'faint')
  line('')
  for (const { agent } of agents) line(`Guard ${titleOf(agent)}: ${weir} hooks install ${agent}`)
}

function agentText({
  agent,
  sessions,
  subAgents,
  turns,
  rounds,
  calls,
  failedCalls,
  tokens,
}: ScannedAgent): string {
  const inside = subAgents > 0 ? ` with ${count(subAgents, 'sub-agent')}` : ''
  const failed = failedCalls > 0 ? ` (${number(failedCalls)} failed)` : ''
  const parts = [count(turns, 'turn'), count(rounds, 'round'), `${count(calls, 'call')}${failed}`]
  return `${titleOf(agent)}: ${count(sessions, 'session')}${inside}, ${parts.join(', ')}${tokensText(', ', tokens)}`
}

function verdictText({ loops, ended, roundsAfter, tokensAfter }: Scanned): string {
  if (loops === 0) return 'No loop. Weir would have said nothing in all of these turns.'
  const found = count(loops, 'loop')
  if (ended === 0) return `${found}. Weir would have written to the model, and ended no turn.`
  const after = `${count(roundsAfter, 'round')}${tokensText(' and ', tokensAfter)}`
  return `${found}. Weir would have ended ${count(ended, 'turn')}, before ${after}.`
}

function loopText({
  agent,
  turn,
  round,
  rounds,
  ended,
  roundsAfter,
  tokensAfter,
}: ScannedLoop): string {
  const place = `${titleOf(agent)}, turn ${turn}: Weir speaks first in round ${round} of ${rounds}`
  if (!ended) return `${place}, and ends nothing`
  const after = `${count(roundsAfter, 'round')}${tokensText(' and ', tokensAfter)}`
  return `${place}, and ends the turn ${after} before its end`
}

/** Not every session names its tokens. */
function tokensText(before: string, tokens: number): string {
  return tokens === 0 ? '' : `${before}${count(tokens, 'token')}`
}

function leftOutText({ what, files, first }: Scanned['leftOut'][number]): string {
  return `left out: ${what} (${files === 1 ? first : `${files} times, first ${first}`})`
}

function placesText(): string {
  const places = [...sessionStores].map(
    ([agent, { home, inside, variable }]) =>
      `${titleOf(agent)} keeps them in ${join('~', home, inside)}, or below ${variable}`,
  )
  return `${places.join('. ')}. Name another place with --path.`
}

function titleOf(agent: string): string {
  return hostNamed(agent)?.title ?? agent
}
