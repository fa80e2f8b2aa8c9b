// The registered guards: mode, verdicts over time, latency, silence, and the shadow against the
// enforced verdicts.

import { shellWord } from '../../../../../shared/lib/text/shell-word.ts'
import { html } from '../../../../page/kit/html.ts'
import { card, cards, type Figure, figures } from '../../../../page/kit/parts.ts'
import { chart } from '../../../../page/kit/plot.ts'
import { count, elapsed, number, second } from '../../../../terminal/text/quantities.ts'
import type { ConsoleGuard } from '../operator-state.ts'
import { personName } from '../parts/ago.ts'
import type { Change, Confirmations } from '../parts/confirmation.ts'
import { removalButton } from './setting-removal.ts'

export type GuardsContext = { confirmations: Confirmations; onChanged(): void }

export function guardsView(guards: ConsoleGuard[], context: GuardsContext) {
  const hasRules = guards.some(({ rules }) => rules !== null)
  return html`
    ${
      guards.length === 0
        ? html`<p class="faint">No guard is registered: <code>weir guard run FILE</code> registers one.</p>`
        : cards(
            'Guards',
            guards.map((guard) => guardCard(guard, context)),
          )
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
    path: 'approval-rules',
    body: ({ rules = '' }) => ({ rules }),
    done: () => 'The rules are set.',
    onChanged,
  }
}

function guardCard(guard: ConsoleGuard, context: GuardsContext) {
  const { name, version, mode, tools, deadlineMs, onTimeout, agreement, rules, setBy } = guard
  const { confirmations } = context
  const isQuiet = guard.rounds === 0 && guard.late === 0
  const limit = elapsed(deadlineMs)
  const otherModes = (['shadow', 'enforce'] as const).filter((one) => one !== mode)
  return card(
    {
      kind: 'guard',
      id: name,
      head: html`<span class="faint">${version}</span>
        <span class=${`badge mode ${mode}`}>${mode}</span>
        ${setBy !== '' && html`<span class="faint">set by ${personName(setBy)}, ${second(guard.registeredAt)}</span>`}
        <span class="faint deadline">${limit} to answer, otherwise its calls ${onTimeout === 'deny' ? 'are denied' : 'run'}</span>`,
    },
    html`<p class="faint patterns">
        Tools:${' '}
        ${tools.map(({ pattern, mode: own }, place) => html`${place > 0 && ', '}<code>${pattern}</code>${mode === 'mixed' && ` (${own})`}`)}
      </p>
      ${figures(figuresOf(guard))}
      ${isQuiet ? html`<p class="faint">It judged no round in the last hour.</p>` : charts(guard)}
      ${agreement !== undefined && html`<p class="faint">It agrees with other guards on ${Math.round(agreement * 1000) / 10} % of the calls that they judge too.</p>`}
      ${rules !== null && html`<h3>Rules of the approval guard</h3><pre class="quote" tabindex="0" aria-label="Rules">${pretty(rules)}</pre>`}
      <p class="buttons">
        ${rules !== null && html`<button type="button" onClick=${() => confirmations.open(rulesChange(guard, context))}>Change the rules…</button>`}
        ${otherModes.map((one) => html`<button type="button" onClick=${() => confirmations.open(modeChange(guard, one, context))}>${one === 'shadow' ? 'Shadow…' : 'Enforce…'}</button>`)}
        ${removalButton('guard', name, { confirmations, refresh: context.onChanged })}
      </p>`,
  )
}

function figuresOf(guard: ConsoleGuard): Figure[] {
  const { rounds, denied, asked, wouldHaveDenied, wouldHaveAsked, late, letThrough } = guard
  return [
    { name: 'rounds judged', value: number(rounds) },
    {
      name: 'calls denied',
      value: number(denied),
      about: asked > 0 && `${number(asked)} sent to a person`,
    },
    {
      name: 'in shadow, would deny',
      value: number(wouldHaveDenied),
      about: wouldHaveAsked > 0 && `${number(wouldHaveAsked)} to a person`,
    },
    {
      name: 'rounds late or silent',
      value: number(late),
      about: letThrough > 0 && `${count(letThrough, 'call')} let through`,
      isBad: late > 0,
    },
  ]
}

function charts(guard: ConsoleGuard) {
  const { minutes, p50Ms, p99Ms = p50Ms ?? 0 } = guard
  const verdicts = chart(
    minutes.map(({ at }) => at),
    verdictSeries(guard),
  )
  return html`<div class="charts">
    <figure>
      <div class="chart" aria-hidden="true" ref=${verdicts}></div>
      <figcaption>
        <span>Verdicts on calls:</span>
        <span class="series allows">allow</span>
        <span class="series would">would deny</span>
        <span class="series denies">deny</span>
      </figcaption>
    </figure>
    <figure>
      <div class="chart" aria-hidden="true" ref=${latencyChart(guard)}></div>
      <figcaption>
        <span>Latency, median of each minute.</span>
        <span>${p50Ms === undefined ? 'No answer was in time.' : `Half within ${elapsed(p50Ms)}, 99 of 100 within ${elapsed(p99Ms)}.`}</span>
      </figcaption>
    </figure>
  </div>`
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
    bars('allows', ({ allows, wouldDeny, denies }) => allows + wouldDeny + denies),
    bars('would', ({ wouldDeny, denies }) => wouldDeny + denies),
    bars('denies', ({ denies }) => denies),
  ]
}

function modeChange(
  { name, wouldHaveDenied }: ConsoleGuard,
  mode: 'shadow' | 'enforce',
  { onChanged }: GuardsContext,
): Change {
  const effect =
    mode === 'enforce'
      ? `From the next model response on, calls wait for ${name}, and its denials count. In shadow it would have denied ${count(wouldHaveDenied, 'call')} in the last hour.`
      : `From the next model response on, no call waits for ${name}. Its verdicts are recorded and change nothing.`
  return {
    title: `Switch ${name} to ${mode}?`,
    text: effect,
    fields: [],
    label: `Switch to ${mode}`,
    command: () => `weir guard mode ${shellWord(name)} ${mode}`,
    path: 'guard-mode',
    body: () => ({ guard: name, mode }),
    done: () => `${name} is switched to ${mode}.`,
    onChanged,
  }
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
