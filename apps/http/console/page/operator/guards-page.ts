// The page of guards and policies: its data, the chosen agent and threshold, and its parts.

import { html } from '../../../../page/kit/html.ts'
import { alert, card, cards, select, status } from '../../../../page/kit/parts.ts'
import { count } from '../../../../terminal/text/quantities.ts'
import type { GuardsData, HeldTool, HeldToolsData, PoliciesData } from '../operator-state.ts'
import type { Change, Confirmations } from '../parts/confirmation.ts'
import { polled } from '../parts/poll.ts'
import { guardsView } from './guards-view.ts'
import type { OperatorPage } from './operator-page.ts'
import { agentName, policiesView, thresholdsIn, valueChange } from './policies-view.ts'
import { whatIfPanel } from './what-if-panel.ts'

const refreshMs = 5_000

export function guardsPage(onChange: () => void, confirmations: Confirmations): OperatorPage {
  const guards = polled<GuardsData>(onChange, refreshMs)
  const heldTools = polled<HeldToolsData>(onChange, refreshMs)
  const policies = polled<PoliciesData>(() => {
    if (agent === undefined && policies.data !== undefined) {
      agent = policies.data.agent
      judge()
    }
    onChange()
  }, null)
  const whatIf = whatIfPanel(onChange)
  /** Undefined: the server names the first one. */
  let agent: string | undefined

  function loadAgent(): void {
    policies.open(`policies${agent === undefined ? '' : `?${new URLSearchParams({ agent })}`}`)
    judge()
  }

  function judge(): void {
    if (agent !== undefined) whatIf.judge({ agent })
  }

  const context = {
    confirmations,
    onAgent(given: string) {
      agent = given
      loadAgent()
    },
    onChanged() {
      guards.refresh()
      loadAgent()
    },
  }

  return {
    open() {
      guards.open('guards')
      heldTools.open('held-tools')
      loadAgent()
    },
    leave() {
      guards.leave()
      heldTools.leave()
      policies.leave()
      whatIf.leave()
    },
    view() {
      const { data, problem } = policies
      const agents = (data?.agents ?? []).map((one) => [one, agentName(one)] as const)
      return html`<main class="operator">
        <h1 class="title">Guards and policies</h1>
        ${status(confirmations.note, 'good')} ${alert(heldTools.problem)}
        ${heldTools.data !== undefined && heldToolsView(heldTools.data, { confirmations, onChanged: heldTools.refresh })}
        <section aria-labelledby="guards-title">
          <h2 id="guards-title">Guards, in the last hour</h2>
          ${alert(guards.problem)}
          ${guards.data === undefined ? html`<p class="faint">Reading the verdicts.</p>` : guardsView(guards.data.guards, context)}
        </section>
        <section aria-labelledby="agent-title">
          <h2 id="agent-title">Policy of an agent</h2>
          <label class="field">
            <span>Agent</span>
            ${select({ name: 'agent', value: agent, values: agents, onChange: context.onAgent })}
          </label>
          ${alert(problem)}
        </section>
        <section aria-labelledby="what-if-title">
          <h2 id="what-if-title">What if a threshold were another?</h2>
          ${whatIf.view(thresholdsIn(data), (key, value) => {
            if (agent !== undefined) confirmations.open(valueChange(agent, key, { value, context }))
          })}
        </section>
        <section aria-labelledby="values-title">
          <h2 id="values-title">Values in force${agent === undefined ? '' : ` for ${agentName(agent)}`}</h2>
          ${data === undefined ? html`<p class="faint">Reading the policy.</p>` : policiesView(data, context)}
        </section>
      </main>`
    },
  }
}

type Context = { confirmations: Confirmations; onChanged(): void }

function heldToolsView({ tools, more }: HeldToolsData, context: Context) {
  if (tools.length === 0) return false
  return html`<section aria-labelledby="held-tools-title">
    <h2 id="held-tools-title">Changed tools of MCP servers</h2>
    <p class="faint">Their servers changed them after the first use. They are held: no model sees them, and their calls do not run.</p>
    ${cards(
      'Changed tools of MCP servers',
      tools.map((tool) => heldCard(tool, context)),
    )}
    ${more > 0 && html`<p class="faint">${count(more, 'more tool')}: weir mcp approve prints all.</p>`}
  </section>`
}

/** A difference that is not shown whole is accepted in the terminal only. */
function heldCard(tool: HeldTool, { confirmations, onChanged }: Context) {
  const { id, server, tool: name, lines, hasMore } = tool
  return card(
    { kind: 'held-tool', class: 'stopped', id: `${server}: ${name}`, head: false },
    html`<pre class="quote difference" tabindex="0" aria-label="Difference">${lines.join('\n')}</pre>
      <p class="buttons">
        ${
          hasMore
            ? html`<span class="warning">The difference is longer: read it with <code>weir mcp approve</code>.</span>`
            : html`<button type="button" onClick=${() => confirmations.open(acceptance(id, name, onChanged))}>Accept the new form…</button>`
        }
      </p>`,
  )
}

function acceptance(id: string, tool: string, onChanged: () => void): Change {
  return {
    title: `Accept the new form of ${tool}?`,
    text: 'The tool is offered again, with the description and the schema that its server gives now.',
    fields: [],
    label: 'Accept',
    command: () => `weir mcp approve ${id}`,
    path: 'held-tool',
    body: () => ({ id }),
    done: () => `The new form of ${tool} is pinned.`,
    onChanged,
  }
}
