// The changes that operators make in the console, by the last part of their path. Each one runs the
// change of its command.

import { guardModes } from '../../../shared/contract/guard/guard.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { settingKinds } from '../../../shared/settings/setting-words.ts'
import { rulesChange } from '../../service/approvals/rules.ts'
import { type BudgetOptions, budgetChange } from '../../service/budgets/change.ts'
import { titleChange } from '../../service/conversations/title.ts'
import { modeChange } from '../../service/guards/change.ts'
import { policyChange, policyRemoval } from '../../service/policy/change.ts'
import {
  type ChangeContext,
  removalOf,
  type SettingChange,
  type SettingTable,
} from '../../service/setting-command.ts'
import { stopChange } from '../../service/stops/change.ts'
import { HttpError } from '../http-error.ts'
import { textIn } from '../request-body.ts'
import { oneOf } from './route-parts.ts'

type Body = Record<string, unknown>

/** Returns the answer. */
export type OperatorChange = (
  table: SettingTable,
  body: Body,
  context: ChangeContext,
) => Promise<object>

/** `flagsOf`: the flags of the command. `answer`: default: an empty object. */
function route<Flags, Input, Done>(
  change: SettingChange<Flags, Input, Done>,
  flagsOf: (body: Body) => Flags,
  answer: (done: Done) => object = () => ({}),
): OperatorChange {
  return async (table, body, context) =>
    answer(await change.write(table, change.read(flagsOf(body)), context))
}

export const operatorChanges: Readonly<Record<string, OperatorChange>> = {
  policy: route(
    policyChange,
    (body) => ({
      agent: textIn(body, 'agent'),
      changes: [`${textIn(body, 'key')}=${textIn(body, 'value')}`],
    }),
    ({ differences, unseen }) => ({ differences, unseen }),
  ),
  'policy-unset': route(
    policyRemoval,
    (body) => ({ agent: textIn(body, 'agent'), keys: [textIn(body, 'key')] }),
    ({ differences }) => ({ differences }),
  ),
  'guard-mode': route(
    modeChange,
    (body) => ({ name: textIn(body, 'guard'), mode: oneOf(body, 'mode', guardModes) }),
    (guard) => guard,
  ),
  'approval-rules': (table, body, context) =>
    route(rulesChange, () => ({ text: textIn(body, 'rules') }))(table, body, context).catch(
      (error: unknown) => {
        throw asBadRules(error)
      },
    ),
  budget: route(budgetChange, budgetIn),
  title: route(
    titleChange,
    (body) => ({ conversation: textIn(body, 'conversation'), title: textIn(body, 'title') }),
    ({ isTaken }) => ({ isTaken }),
  ),
  stop: route(stopChange, (body) => {
    const scope = oneOf(body, 'scope', stopScopes)
    const name = scope === 'all' || textIn(body, 'name')
    const now = oneOf(body, 'mode', stopModes) === 'now'
    return { [scope]: name, now, reason: textIn(body, 'reason') }
  }),
  /** Of any kind. */
  remove: (table, body, context) => {
    const removal = removalOf(oneOf(body, 'setting', settingKinds))
    return route(removal, () => ({ id: textIn(body, 'id') }))(table, body, context)
  },
}

const stopScopes = ['all', 'tenant', 'agent', 'tool', 'conversation', 'tree'] as const
const stopModes = ['drain', 'now'] as const
const budgetSubjects = ['tenant', 'agent', 'conversation'] as const
const budgetWindows = ['turn', 'day', 'month'] as const

/** A fault in the rules is one of the request. Its text names nothing of the server. */
function asBadRules(error: unknown): unknown {
  return error instanceof WeirError && error.code === 'settings.invalid'
    ? new HttpError(400, error.code, error.message, { cause: error })
    : error
}

/** An empty amount is none. Without a tenant, that of one conversation is in its id. */
function budgetIn(body: Body): BudgetOptions {
  const subject = oneOf(body, 'subject', budgetSubjects)
  const unit = oneOf(body, 'unit', ['tokens', 'usd'] as const)
  const [tenant, hard, soft] = ['tenant', 'hard', 'soft'].map((name) => textIn(body, name).trim())
  return {
    window: oneOf(body, 'window', budgetWindows),
    ...(tenant && { tenant }),
    ...(subject !== 'tenant' && { [subject]: textIn(body, 'name').trim() }),
    ...(hard && { [unit === 'tokens' ? 'tokens' : 'money']: hard }),
    ...(soft && { [unit === 'tokens' ? 'softTokens' : 'softMoney']: soft }),
    ...(unit === 'usd' && { unpriced: oneOf(body, 'unpriced', ['allow', 'deny'] as const) }),
  }
}
