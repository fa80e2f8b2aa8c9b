// `weir approvals`: the calls that wait for a person, with their exact arguments. Changes nothing,
// and works beside a running Weir.

import {
  openApprovals,
  type WaitingApproval,
} from '../../../services/approval/performer/approvals.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import type { Settings } from '../../../shared/settings/settings.ts'
import { withLog } from '../../history/open-log.ts'
import { painted } from '../../terminal/paint.ts'
import { programText } from '../../terminal/text/activity-texts.ts'
import { argumentLines } from '../../terminal/text/argument-lines.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { elapsed, second } from '../../terminal/text/quantities.ts'
import { questionLines } from '../../terminal/text/question-lines.ts'

/** `json`: one WaitingApproval per line. */
export async function listApprovals(
  { json = false }: { json?: boolean },
  settings: Settings,
  out: NodeJS.WriteStream,
): Promise<void> {
  const waiting = await withLog(settings, (log) =>
    openApprovals({ ...log, append: neverAppends }).waiting(),
  )
  if (json) for (const approval of waiting) out.write(`${printableJson(approval)}\n`)
  else if (waiting.length === 0) out.write('nothing waits for a decision\n')
  else for (const approval of waiting) print(approval, out)
}

async function neverAppends(): Promise<never> {
  throw new Error('a list writes nothing')
}

function print(approval: WaitingApproval, out: NodeJS.WriteStream): void {
  const { id, tool, rule, source, conversation, agent, arguments: text, since, until } = approval
  const now = systemClock.now()
  const written = source === 'text' ? ', written as text by the model' : ''
  out.write(`${painted(out, 'title', id)}  ${printable(tool)} (${printable(rule)})${written}\n`)
  const columns = out.isTTY === true ? out.columns || 80 : Number.POSITIVE_INFINITY
  for (const line of argumentLines(text, columns)) out.write(`${line}\n`)
  if (approval.question !== null)
    for (const line of questionLines(approval.question, columns)) out.write(`${line}\n`)
  const program = programText(approval.program)
  out.write(`    conversation ${printable(conversation)}, agent ${printable(agent)}`)
  out.write(program === undefined ? '\n' : `, ${program}\n`)
  out.write(
    `    since ${second(since)}; denied in ${elapsed(Math.max(0, until - now))} if nobody decides, at ${second(until)}\n`,
  )
}
