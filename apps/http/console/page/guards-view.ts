// The registered guards: mode, verdicts over time, latency, silence, and the shadow against the
// enforced verdicts.

import { shellWord } from '../../../terminal/shell-word.ts'
import { counted, number, personName, span } from './ago.ts'
import { chart } from './chart.ts'
import type { Change, Confirmations } from './confirmation.ts'
import { html } from './html.ts'
import type { ConsoleGuard } from './operator-state.ts'
import { send } from './server.ts'

export type GuardsContext = { confirmations: Confirmations; onChanged(): void }

export function guardsView(guards: ConsoleGuard[], context: GuardsContext) {
  const hasRules = guards.some(({ rules }) => rules !== null)
  return html`
    ${
      guards.length === 0
        ? html`<p class="faint">No guard is registered: <code>weir guard run FILE</code> registers one.</p>`
        : html`<div class="waiting" role="list" aria-label="Guards">
            ${guards.map((guard) => card(guard, context))}
          </div>`
    }
    ${
      !hasRules &&
      html`<p class="buttons">
        <button type="button" onClick=${() => context.confirmations.open(rulesChange(undefined, context))}>Set approval rules…</button>
        <span class="faint">No rule sends a call to a person.</span>
      </p>`
    }`
}

const exampleRules = '[{ "name": "money", "tools": ["refund"] }]'

/** `guard` undefined: there are no rules yet. */
function rulesChange(guard: ConsoleGuard | undefined, { onChanged }: GuardsContext): Change {
  const waitMs = guard?.deadlineMs ?? 3_600_000
  const value = `{ "waitMs": ${waitMs}, "rules": ${pretty(guard?.rules ?? exampleRules)} }`
  return {
    title: 'Set the rules of the approval guard?',
    text: 'From the next model response on, calls that a rule names wait for a person. These rules replace all others, and all of them enforce.',
    fields: [
      { name: 'rules', label: 'Rules, as JSON', value: pretty(value), values: null, kind: 'lines' },
    ],
    label: 'Set the rules',
    command: () => 'weir approvals rules rules.json   # a file with this text',
    async send({ rules = '' }) {
      await send('approval-rules', { rules })
      onChanged()
      return 'The rules are set.'
    },
  }
}

function card(guard: ConsoleGuard, context: GuardsContext) {
  const { name, version, mode, tools, deadlineMs, onTimeout, minutes, agreement } = guard
  const title = `guard-${name}`
  const ats = minutes.map(({ at }) => at)
  const isQuiet = guard.rounds === 0 && guard.late === 0
  return html`<article class="card guard" role="listitem" key=${name} data-guard=${name} aria-labelledby=${title}>
    <header>
      <h2 id=${title}><code>${name}</code></h2>
      <span class="faint">${version}</span>
      <span class=${`badge mode ${mode}`}>${mode}</span>
      ${guard.setBy !== '' && html`<span class="faint">set by ${personName(guard.setBy)}, ${new Date(guard.registeredAt).toLocaleString()}</span>`}
      <span class="faint deadline">${deadlineMs < 60_000 ? `${number(deadlineMs)} ms` : span(deadlineMs)} to answer, otherwise its calls ${onTimeout === 'deny' ? 'are denied' : 'run'}</span>
    </header>
    <p class="faint patterns">
      Tools:${' '}
      ${tools.map(({ pattern, mode: own }, place) => html`${place > 0 && ', '}<code>${pattern}</code>${mode === 'mixed' && ` (${own})`}`)}
    </p>
    <dl class="figures">
      <div><dt>rounds judged</dt><dd><b>${number(guard.rounds)}</b></dd></div>
      <div><dt>calls rejected</dt><dd><b>${number(guard.rejected)}</b> ${guard.asked > 0 && html`<span>${number(guard.asked)} sent to a person</span>`}</dd></div>
      <div><dt>in shadow, would reject</dt><dd><b>${number(guard.wouldHaveRejected)}</b> ${guard.wouldHaveAsked > 0 && html`<span>${number(guard.wouldHaveAsked)} to a person</span>`}</dd></div>
      <div class=${guard.late > 0 ? 'bad' : ''}><dt>rounds late or silent</dt><dd><b>${number(guard.late)}</b> ${guard.letThrough > 0 && html`<span>${counted(guard.letThrough, 'call')} let through</span>`}</dd></div>
    </dl>
    ${
      isQuiet
        ? html`<p class="faint">It judged no round in the last hour.</p>`
        : html`<div class="charts">
            <figure>
              <div class="chart" aria-hidden="true" ref=${chart(ats, verdictSeries(guard))}></div>
              <figcaption>
                <span>Verdicts on calls:</span>
                <span class="series passes">pass</span>
                <span class="series would">would reject</span>
                <span class="series rejects">reject</span>
              </figcaption>
            </figure>
            <figure>
              <div class="chart" aria-hidden="true" ref=${latencyChart(guard)}></div>
              <figcaption>
                <span>Latency, median of each minute.</span>
                <span>${guard.p50Ms === undefined ? 'No answer was in time.' : `Half within ${number(guard.p50Ms)} ms, 99 of 100 within ${number(guard.p99Ms ?? guard.p50Ms)} ms.`}</span>
              </figcaption>
            </figure>
          </div>`
    }
    ${agreement !== undefined && html`<p class="faint">It agrees with other guards on ${Math.round(agreement * 1000) / 10} % of the calls that they judge too.</p>`}
    ${guard.rules !== null && html`<h3>Rules of the approval guard</h3><pre class="quote" tabindex="0" aria-label="Rules">${pretty(guard.rules)}</pre>`}
    <p class="buttons">
      ${guard.rules !== null && html`<button type="button" onClick=${() => context.confirmations.open(rulesChange(guard, context))}>Change the rules…</button>`}
      ${(['shadow', 'enforce'] as const).filter((one) => one !== mode).map((one) => html`<button type="button" onClick=${() => context.confirmations.open(modeChange(guard, one, context))}>${one === 'shadow' ? 'Shadow…' : 'Enforce…'}</button>`)}
      <span class="faint">Remove it: <code>weir guard remove ${name}</code></span>
    </p>
  </article>`
}

/** A person's decision takes seconds or hours. */
function latencyChart({ minutes }: ConsoleGuard) {
  const isSlow = minutes.some(({ p50Ms }) => (p50Ms ?? 0) >= 10_000)
  const values = minutes.map(({ p50Ms }) => (isSlow && p50Ms !== null ? p50Ms / 1000 : p50Ms))
  return chart(
    minutes.map(({ at }) => at),
    [{ colour: 'latency', shape: 'line', values }],
    { least: 10, unit: isSlow ? ' s' : ' ms' },
  )
}

/** The lower parts are drawn over the sums. */
function verdictSeries({ minutes }: ConsoleGuard) {
  const bars = (colour: string, countOf: (minute: ConsoleGuard['minutes'][number]) => number) =>
    ({ colour, shape: 'bars', values: minutes.map(countOf) }) as const
  return [
    bars('passes', ({ passes, wouldReject, rejects }) => passes + wouldReject + rejects),
    bars('would', ({ wouldReject, rejects }) => wouldReject + rejects),
    bars('rejects', ({ rejects }) => rejects),
  ]
}

function modeChange(
  { name, wouldHaveRejected }: ConsoleGuard,
  mode: 'shadow' | 'enforce',
  { onChanged }: GuardsContext,
) {
  const effect =
    mode === 'enforce'
      ? `From the next model response on, calls wait for ${name}, and its rejections count. In shadow it would have rejected ${counted(wouldHaveRejected, 'call')} in the last hour.`
      : `From the next model response on, no call waits for ${name}. Its verdicts are recorded and change nothing.`
  return {
    title: `Switch ${name} to ${mode}?`,
    text: effect,
    fields: [],
    label: `Switch to ${mode}`,
    command: () => `weir guard mode ${shellWord(name)} ${mode}`,
    async send() {
      await send('guard-mode', { guard: name, mode })
      onChanged()
      return `${name} is switched to ${mode}.`
    },
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
