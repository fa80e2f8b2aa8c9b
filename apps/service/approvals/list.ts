// `weir approvals`: the calls that wait for a person, with their exact arguments. Changes nothing,
// and works next to a running Weir.

import {
  openApprovals,
  type WaitingApproval,
} from '../../../services/approval/performer/approvals.ts'
import { systemClock } from '../../../shared/lib/clock.ts'
import { painted } from '../../terminal/paint.ts'
import { programText } from '../../terminal/text/activity-texts.ts'
import { argumentLines } from '../../terminal/text/argument-lines.ts'
import { printable } from '../../terminal/text/printable.ts'
import { elapsed, second } from '../../terminal/text/quantities.ts'
import { questionLines } from '../../terminal/text/question-lines.ts'
import type { SettingList } from '../setting-command.ts'

export const approvalList: SettingList<object, WaitingApproval> = {
  read: () => (log) => openApprovals({ ...log, append: neverAppends }).waiting(),
  lines: approvalLines,
  none: 'nothing waits for a decision',
}

async function neverAppends(): Promise<never> {
  throw new Error('a list writes nothing')
}

function approvalLines(approval: WaitingApproval, out: NodeJS.WriteStream): string[] {
  const { id, name, rule, source, conversation, agent, rawArguments, since, until } = approval
  const now = systemClock.now()
  const written = source === 'text' ? ', written as text by the model' : ''
  const columns = out.isTTY === true ? out.columns || 80 : Number.POSITIVE_INFINITY
  const program = programText(approval.program)
  const place = `    conversation ${printable(conversation)}, agent ${printable(agent)}`
  return [
    `${painted(out, 'title', id)}  ${printable(name)} (${printable(rule)})${written}`,
    ...argumentLines(rawArguments, columns),
    ...(approval.question === null ? [] : questionLines(approval.question, columns)),
    program === undefined ? place : `${place}, ${program}`,
    `    since ${second(since)}; denied in ${elapsed(Math.max(0, until - now))} if nobody decides, at ${second(until)}`,
  ]
}
