// The routes of the console for operators: guards, policies, what-ifs, stages, the stop switch.
// CONSOLE-OPERATOR-1. Each change needs the role `operate`. Its record carries the name of the
//     principal.
// CONSOLE-OPERATOR-2. One change is written at a time.

import { Hono } from 'hono'
import { guardModes } from '../../../shared/contract/guard.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { everyAgent } from '../../../shared/contract/topology.ts'
import { WeirError } from '../../../shared/lib/errors.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { switchGuard } from '../../../shared/runtime/guards/guard-registry.ts'
import { defaultValue } from '../../history/effective.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { placeRules, rulesIn } from '../../service/approvals/rules.ts'
import {
  type BudgetOptions,
  budgetOf,
  placeBudget,
  removeStoredBudget,
} from '../../service/budgets/change.ts'
import { shownBudget } from '../../service/budgets/list.ts'
import { accountsReader, storedBudgets } from '../../service/budgets/stored.ts'
import { changePolicy, removeValues } from '../../service/policy/change.ts'
import { readLayers } from '../../service/policy/layers.ts'
import { effectiveOf } from '../../service/policy/shown-policy.ts'
import { storedPolicies } from '../../service/policy/stored.ts'
import { placeStop, releaseStop } from '../../service/stops/change.ts'
import { shownStop } from '../../service/stops/list.ts'
import { scopeOf } from '../../service/stops/scope.ts'
import { releasedStops, storedStops } from '../../service/stops/stored.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { requireRole } from '../edge/principal.ts'
import { HttpError } from '../http-error.ts'
import { textIn } from '../request-body.ts'
import type { HttpApp, HttpContext } from '../server.ts'
import type { ConsoleParts } from './console-parts.ts'
import { guardsData } from './guards-data.ts'
import type { BudgetsData, GuardsData, PoliciesData } from './page/operator-state.ts'
import { bodyOf, oneOf, within } from './route-parts.ts'
import { stagesReader } from './stages-data.ts'
import { whatIfData } from './what-if-data.ts'

/** Of turns: the page asks every few seconds, and numbers need the whole history. */
const withoutNumbers = () => undefined

type Table = Parameters<Parameters<typeof withExistingRegistry>[1]>[0]

const stopScopes = ['all', 'tenant', 'agent', 'tool', 'conversation'] as const
const stopModes = ['drain', 'now'] as const

/** Under the path and the checks of the console's other routes. */
export function operatorApi(
  edge: EdgeContext,
  { reader, log, settings }: ConsoleParts,
  api: string,
): HttpApp {
  const { principalOf, clock } = edge
  const app: HttpApp = new Hono()
  const reads = createSlots(1)
  const whatIfs = createSlots(1)
  const changes = createSlots(1)
  const readAccounts = accountsReader(log)
  const readStages = stagesReader({ log, settings })
  let known: { at: number; guards: Promise<GuardsData> } | undefined

  /** Keeps CONSOLE-OPERATOR-1 and CONSOLE-OPERATOR-2. */
  async function change(
    context: HttpContext,
    work: (table: Table, body: Record<string, unknown>, by: string) => Promise<object>,
  ): Promise<Response> {
    const principal = principalOf(context.req.raw)
    requireRole(principal, 'operate')
    const body = await bodyOf(context)
    const done = await within(changes, () =>
      withExistingRegistry(settings, (table) => work(table, body, principal.name)),
    )
    const path = context.req.path.slice(api.length + 1)
    edge.log.info({ by: principal.name, change: path, ...namesIn(body) }, 'a setting was changed')
    known = undefined
    return context.json(done)
  }

  app.get(`${api}/guards`, async (context) => {
    const now = clock.now()
    if (known === undefined || now - known.at >= limits.consoleRefreshMs)
      known = { at: now, guards: within(reads, () => guardsData(log, now)) }
    return context.json(await known.guards)
  })

  app.get(`${api}/policies`, async (context) => {
    const data = await within(reads, async (): Promise<PoliciesData> => {
      const set = [...(await storedPolicies(log)).keys()]
      const agents = new Set([...edge.agents.keys(), ...set, ...reader.agents(), everyAgent])
      const [first = everyAgent] = agents
      const agent = context.req.query('agent') ?? first
      const policy = effectiveOf(agent, await readLayers(agent, {}, log))
      return { agents: [...agents], agent, policy }
    })
    return context.json(data)
  })

  app.get(`${api}/what-if`, async (context) => {
    const { agent = everyAgent, key = '' } = context.req.query()
    const gone = new AbortController()
    context.env.outgoing.once('close', () => gone.abort())
    const { signal } = gone
    try {
      const data = await within(whatIfs, async () => {
        signal.throwIfAborted()
        const { effective } = effectiveOf(agent, await readLayers(agent, {}, log))
        const current = Number(effective?.[key]?.value ?? defaultValue(key) ?? Number.NaN)
        const turns = reader.recentTurns(agent, limits.consoleWhatIfTurnsMax)
        const given = { agent, key, current: Number.isNaN(current) ? null : current }
        return whatIfData(given, { log, turns, signal })
      })
      return context.json(data)
    } catch (error) {
      if (signal.aborted) return context.body(null) // nobody reads it
      throw error
    }
  })

  app.get(`${api}/stops`, async (context) =>
    context.json({
      ...{ stops: (await storedStops(log)).map(shownStop), released: await releasedStops(log) },
    }),
  )

  app.get(`${api}/stages`, async (context) => context.json(await readStages()))

  app.get(`${api}/budgets`, async (context) => {
    const budgets = await storedBudgets(log)
    const accounts = budgets.length === 0 ? [] : await within(reads, readAccounts)
    const shown = budgets.map((budget) => {
      const use = accounts
        .filter(({ id }) => id === budget.id)
        .sort((a, b) => b.used + b.held - (a.used + a.held))
      const most = use.slice(0, limits.consoleAccountsMax)
      return { ...shownBudget(budget, most, withoutNumbers), more: use.length - most.length }
    })
    return context.json({ budgets: shown } satisfies BudgetsData)
  })

  app.post(`${api}/policy`, (context) =>
    change(context, (table, body, by) => {
      const changes = [`${textIn(body, 'key')}=${textIn(body, 'value')}`]
      return changePolicy(table, textIn(body, 'agent'), { changes, by })
    }),
  )

  app.post(`${api}/policy-unset`, (context) =>
    change(context, async (table, body, by) => {
      const keys = [textIn(body, 'key')]
      return { differences: await removeValues(table, textIn(body, 'agent'), { keys, by }) }
    }),
  )

  app.post(`${api}/guard-mode`, (context) =>
    change(context, (table, body, by) =>
      switchGuard(table, textIn(body, 'guard'), { mode: oneOf(body, 'mode', guardModes), by }),
    ),
  )

  app.post(`${api}/approval-rules`, (context) =>
    change(context, async (table, body, by) => {
      const text = textIn(body, 'rules')
      await rulesPlaced(table, text, by)
      return {}
    }),
  )

  app.post(`${api}/budget`, (context) =>
    change(context, async (table, body, by) => {
      await placeBudget(table, budgetOf(budgetIn(body)), by)
      return {}
    }),
  )

  app.post(`${api}/budget-remove`, (context) =>
    change(context, async (table, body, by) => {
      await removeStoredBudget(table, textIn(body, 'id'), by)
      return {}
    }),
  )

  app.post(`${api}/stop`, (context) =>
    change(context, async (table, body, by) => {
      const kind = oneOf(body, 'scope', stopScopes)
      const scope = scopeOf(kind === 'all' ? { all: true } : { [kind]: textIn(body, 'name') })
      const mode = oneOf(body, 'mode', stopModes)
      await placeStop(table, { ...scope, mode, reason: textIn(body, 'reason'), setBy: by })
      return {}
    }),
  )

  app.post(`${api}/release`, (context) =>
    change(context, async (table, body, by) => {
      await releaseStop(table, textIn(body, 'id'), by)
      return {}
    }),
  )

  return app
}

const budgetSubjects = ['tenant', 'agent', 'conversation'] as const
const budgetWindows = ['turn', 'day', 'month'] as const

async function rulesPlaced(table: Table, text: string, by: string): Promise<void> {
  try {
    await placeRules(table, rulesIn('the text', text), by)
  } catch (error) {
    throw asBadRules(error)
  }
}

/** A fault in the rules is one of the request. Its text names nothing of the server. */
function asBadRules(error: unknown): unknown {
  return error instanceof WeirError && error.code === 'settings.invalid'
    ? new HttpError(400, error.code, error.message, { cause: error })
    : error
}

/** An empty amount is none. The tenant of one conversation is that of its id. */
function budgetIn(body: Record<string, unknown>): BudgetOptions {
  const subject = oneOf(body, 'subject', budgetSubjects)
  const unit = oneOf(body, 'unit', ['tokens', 'usd'] as const)
  const [tenant, hard, soft] = ['tenant', 'hard', 'soft'].map((name) => textIn(body, name).trim())
  return {
    window: oneOf(body, 'window', budgetWindows),
    ...(tenant && { tenant }),
    ...(subject !== 'tenant' && { [subject]: textIn(body, 'name').trim() }),
    ...(hard && { [unit === 'tokens' ? 'tokens' : 'money']: hard }),
    ...(soft && { [unit === 'tokens' ? 'softTokens' : 'softMoney']: soft }),
    ...(unit === 'usd' && { unpriced: oneOf(body, 'unpriced', ['allow', 'refuse'] as const) }),
  }
}

/** The fields of a change that its line in the server's log has. */
function namesIn(body: Record<string, unknown>): Record<string, string> {
  const names = [
    ...['agent', 'key', 'value', 'guard', 'mode', 'scope', 'name', 'id'],
    ...['tenant', 'subject', 'window', 'unit', 'hard', 'soft'],
  ]
  return Object.fromEntries(
    names.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : [])),
  )
}
