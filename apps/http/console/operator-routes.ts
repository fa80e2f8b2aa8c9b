// The routes of the console for operators: guards, policies, what-ifs, stages, budgets, the stop switch.
// operator-changes.ts has the changes.
// Each change needs the role `operate`. Its record carries the name of the
// principal.
// One change is written at a time.

import { Hono } from 'hono'
import { policyMeanings } from '../../../shared/agents/policy/entries.ts'
import { parseConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { everyAgent } from '../../../shared/contract/topology.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { storedSettings } from '../../../shared/runtime/settings/operator-setting.ts'
import { acceptPin, heldPins } from '../../../shared/tools/mcp/tool-pins.ts'
import { defaultValue } from '../../history/effective.ts'
import { withExistingRegistry } from '../../history/registry.ts'
import { accountsReader } from '../../service/budgets/accounts.ts'
import { shownBudget, useOf } from '../../service/budgets/list.ts'
import { shownPin } from '../../service/mcp/shown-pin.ts'
import { budgetSetting, stopSetting } from '../../service/operator-settings.ts'
import { readLayers, storedPolicies } from '../../service/policy/layers.ts'
import { effectiveOf } from '../../service/policy/shown-policy.ts'
import { releasedStops, shownStop } from '../../service/stops/list.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { HttpError } from '../http-error.ts'
import { textIn } from '../request-body.ts'
import type { HttpApp, HttpContext } from '../server.ts'
import type { ConsoleParts } from './console-parts.ts'
import { type OperatorChange, operatorChanges } from './operator-changes.ts'
import type { BudgetsData, GuardsData, HeldToolsData, PoliciesData } from './page/operator-state.ts'
import { bodyOf, within } from './route-parts.ts'
import { turnsIn } from './state/conversation-data.ts'
import { guardsData } from './state/guards-data.ts'
import { stagesReader } from './state/stages-data.ts'
import { whatIfData } from './state/what-if-data.ts'

/** Changed tools of MCP servers on the page of the console. */
const consoleHeldToolsMax = 50
/** Accounts of one budget that the console shows, those with the most use. */
const consoleAccountsMax = 50

/** Of turns: the page asks every few seconds, and numbers need the whole history. */
const withoutNumbers = () => undefined

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

  async function change(
    context: HttpContext,
    name: string,
    work: OperatorChange,
  ): Promise<Response> {
    const principal = principalOf(context.req.raw, 'operate')
    const body = await bodyOf(context)
    const done = await within(changes, () =>
      withExistingRegistry(settings, (table) =>
        work({ ...table, identity: principal.identity }, body, { by: principal.id, settings }),
      ),
    )
    edge.log.info({ by: principal.id, change: name, ...namesIn(body) }, 'a setting was changed')
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
      return { agents: [...agents], agent, policy, meanings: policyMeanings }
    })
    return context.json(data)
  })

  app.get(`${api}/what-if`, async (context) => {
    const { agent = everyAgent, key = '', conversation } = context.req.query()
    const id = conversation === undefined ? null : parseConversationId(conversation)
    const gone = new AbortController()
    context.env.outgoing.once('close', () => gone.abort())
    const { signal } = gone
    try {
      const data = await within(whatIfs, async () => {
        signal.throwIfAborted()
        const { effective } = effectiveOf(agent, await readLayers(agent, {}, log))
        const current = Number(effective?.[key]?.value ?? defaultValue(key) ?? Number.NaN)
        const turns =
          id === null
            ? reader.recentTurns(agent, limits.consoleWhatIfTurnsMax)
            : await turnsIn(id, log)
        const known = Number.isNaN(current) ? null : current
        const given = { agent, conversation: id, key, current: known }
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
      stops: (await storedSettings(stopSetting, log)).map(shownStop),
      released: await releasedStops(log),
    }),
  )

  app.get(`${api}/stages`, async (context) => context.json(await readStages()))

  app.get(`${api}/budgets`, async (context) => {
    const budgets = await storedSettings(budgetSetting, log)
    const accounts = budgets.length === 0 ? [] : await within(reads, readAccounts)
    const shown = budgets.map((budget) => {
      const use = useOf(budget.id, accounts)
      const most = use.slice(0, consoleAccountsMax)
      return { ...shownBudget(budget, most, withoutNumbers), more: use.length - most.length }
    })
    return context.json({ budgets: shown } satisfies BudgetsData)
  })

  app.get(`${api}/held-tools`, (context) => context.json(heldToolsData(settings.dataFolder)))

  app.post(`${api}/held-tool`, async (context) => {
    const principal = principalOf(context.req.raw, 'operate')
    const id = textIn(await bodyOf(context), 'id')
    if (!acceptPin(settings.dataFolder, id))
      throw new HttpError(409, 'mcp.tool-changed', 'the tool changed again, or is not held')
    edge.log.info({ by: principal.id, change: id }, 'a changed tool of an MCP server was accepted')
    return context.json({})
  })

  for (const [name, work] of Object.entries(operatorChanges))
    app.post(`${api}/${name}`, (context) => change(context, name, work))

  return app
}

/** The fields of a change that its line in the server's log has. */
function namesIn(body: Record<string, unknown>): Record<string, string> {
  const names = [
    ...['agent', 'key', 'value', 'guard', 'mode', 'scope', 'name', 'setting', 'id', 'conversation'],
    ...['tenant', 'subject', 'window', 'unit', 'hard', 'soft'],
  ]
  return Object.fromEntries(
    names.flatMap((name) => (typeof body[name] === 'string' ? [[name, body[name]]] : [])),
  )
}

/** The page shows so much of one difference. */
const differenceBytesMax = 64 * 1024

function heldToolsData(dataFolder: string): HeldToolsData {
  const held = heldPins(dataFolder)
  const shown = held.slice(0, consoleHeldToolsMax).map((pin) => {
    const { lines, ...tool } = shownPin(pin)
    const few = linesWithin(lines, differenceBytesMax)
    return { ...tool, lines: few, hasMore: few.length < lines.length }
  })
  return { tools: shown, more: held.length - shown.length }
}

function linesWithin(lines: readonly string[], bytesMax: number): string[] {
  let bytes = 0
  const end = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line)
    return bytes > bytesMax
  })
  return end === -1 ? [...lines] : lines.slice(0, end)
}
