// The texts of a scan, for the terminal and for the page. Pure.

import { moneyText } from '../../terminal/text/money-text.ts'
import { count, number } from '../../terminal/text/quantities.ts'
import type { Scanned, ScannedAgent, ScannedLoop } from './scan-totals.ts'

/** Lines by their place. `lists`: with a title. `commands`: those that guard the agents. */
export type ScanScreen = {
  agents: string[]
  verdict: { text: string; isBad: boolean }
  loops: { title: string; reason: string; file: string }[]
  lists: { title: string; lines: string[] }[]
  notes: string[]
  commands: string[]
}

/**
 * `nothing`: the verdict without a session. `titleOf`: the name of an agent for people. `commandOf`: the line
 * that tells how to guard it, if any.
 */
export type ScanWords = {
  nothing: string
  titleOf: (agent: string) => string
  commandOf: (agent: string) => string | undefined
}

export function scanScreen(scanned: Scanned, words: ScanWords): ScanScreen {
  const { agents, worst, loops } = scanned
  const more = loops - worst.length
  return {
    agents: agents.map((agent) => agentText(agent, words)),
    verdict: { text: agents.length === 0 ? words.nothing : verdictText(scanned), isBad: loops > 0 },
    loops: worst.map((loop, at) => ({
      title: `${at + 1}. ${loopText(loop, words)}`,
      reason: `${loop.rule}: ${loop.reason}`,
      file: loop.file,
    })),
    lists: [
      { title: 'Tools that fail most', lines: failingLines(scanned, words) },
      { title: 'Sessions with many sub-agents', lines: stormLines(scanned, words) },
      { title: 'Possible secrets in arguments', lines: secretLines(scanned, words) },
    ].filter(({ lines }) => lines.length > 0),
    notes: [...(more > 0 ? [`and ${count(more, 'further loop')}`] : []), ...leftOutLines(scanned)],
    commands: agents.flatMap(({ agent }) => words.commandOf(agent) ?? []),
  }
}

function leftOutLines({ leftOut }: Scanned): string[] {
  return leftOut.map(
    ({ what, files, first }) =>
      `left out: ${what} (${files === 1 ? first : `${files} times, first ${first}`})`,
  )
}

function agentText(scanned: ScannedAgent, { titleOf }: ScanWords): string {
  const { agent, sessions, subAgents, turns, rounds, calls, failedCalls, tokens } = scanned
  const inside = subAgents > 0 ? ` with ${count(subAgents, 'sub-agent')}` : ''
  const failed = failedCalls > 0 ? ` (${number(failedCalls)} failed)` : ''
  const parts = [count(turns, 'turn'), count(rounds, 'round'), `${count(calls, 'call')}${failed}`]
  return `${titleOf(agent)}: ${count(sessions, 'session')}${inside}, ${parts.join(', ')}${tokensText(', ', tokens)}`
}

function verdictText(scanned: Scanned): string {
  const { loops, ended } = scanned
  if (loops === 0) return 'No loop. Weir would have said nothing in all of these turns.'
  const loopsText = count(loops, 'loop')
  if (ended === 0) return `${loopsText}. Weir would have written to the model, and ended no turn.`
  return `${loopsText}. Weir would have ended ${count(ended, 'turn')}, before ${costText(scanned)}.`
}

function loopText(loop: ScannedLoop, { titleOf }: ScanWords): string {
  const { agent, turn, round, rounds, ended } = loop
  const place = `${titleOf(agent)}, turn ${turn}: Weir speaks first in round ${round} of ${rounds}`
  if (!ended) return `${place}, and ends nothing`
  return `${place}, and ends the turn ${costText(loop)} before its end`
}

type Cost = Pick<ScannedLoop, 'roundsAfter' | 'tokensAfter' | 'moneyAfter'>

/** Not every session names its tokens, and not every model has a known price. */
function costText({ roundsAfter, tokensAfter, moneyAfter }: Cost): string {
  const money = moneyAfter.usd === 0 ? '' : ` (${moneyText(moneyAfter)})`
  return `${count(roundsAfter, 'round')}${tokensText(' and ', tokensAfter)}${money}`
}

function tokensText(before: string, tokens: number): string {
  return tokens === 0 ? '' : `${before}${count(tokens, 'token')}`
}

function failingLines({ failing }: Scanned, { titleOf }: ScanWords): string[] {
  return failing.map(
    ({ agent, tool, calls, failed }) =>
      `${tool} (${titleOf(agent)}): ${number(failed)} of ${count(calls, 'call')}`,
  )
}

function stormLines({ storms }: Scanned, { titleOf }: ScanWords): string[] {
  return storms.map(
    ({ agent, subAgents, file }) => `${subAgents} in a session of ${titleOf(agent)}: ${file}`,
  )
}

function secretLines({ secrets }: Scanned, { titleOf }: ScanWords): string[] {
  return secrets.map(
    ({ agent, kind, tool, values, first }) =>
      `${kind} in ${tool} (${titleOf(agent)}): ${count(values, 'value')}, first in ${first}`,
  )
}
