// The page of guards and policies: its data, the chosen agent and threshold, and its parts.

import { html } from '../../../../page/kit/html.ts'
import { alert, select, status } from '../../../../page/kit/parts.ts'
import type { GuardsData, HeldToolsData, PoliciesData } from '../operator-state.ts'
import type { Confirmations } from '../parts/confirmation.ts'
import { polled } from '../parts/poll.ts'
import { guardsView } from './guards-view.ts'
import { heldToolsView } from './held-tools-view.ts'
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
