// The page of the audit: the newest entries for the filters of the address, and files of them.

import type { AuditEntry } from '../../../../../shared/view/audit/entries.ts'
import { followedWord } from '../../../../../shared/view/audit/followed.ts'
import { type Child, html } from '../../../../page/kit/html.ts'
import { alert, card, cards, pairs } from '../../../../page/kit/parts.ts'
import { count, second, wholeDuration } from '../../../../terminal/text/quantities.ts'
import type { AuditData } from '../console-state.ts'
import { linkTo, personName } from '../parts/ago.ts'
import { addressOf, type Filters, filterField, filtersIn, withFilter } from '../parts/filters.ts'
import { download, read } from '../parts/server.ts'

const files = [
  ['json', 'JSON lines', 'jsonl'],
  ['ocsf', 'OCSF', 'jsonl'],
  ['cef', 'CEF', 'log'],
] as const

export function auditPage(onChange: () => void) {
  let filters: Filters = {}
  let data: AuditData | undefined
  let problem: string | null = null
  let isLoading = false
  /** Of the newest request. Answers to earlier ones are dropped. */
  let request = new AbortController()

  function load(): void {
    request.abort()
    const own = new AbortController()
    request = own
    isLoading = true
    onChange()
    read<AuditData>(`audit?${new URLSearchParams(filters)}`, own.signal)
      .then(
        (next) => {
          if (!own.signal.aborted) [data, problem] = [next, null]
        },
        (error: unknown) => {
          if (!own.signal.aborted) problem = error instanceof Error ? error.message : String(error)
        },
      )
      .finally(() => {
        if (own.signal.aborted) return
        isLoading = false
        onChange()
      })
  }

  function change(key: string, value: string): void {
    filters = withFilter(filters, key, value)
    history.replaceState(null, '', addressOf('audit', filters))
    load()
  }

  function save(format: string, ending: string): void {
    const query = new URLSearchParams({ ...filters, format })
    download(`audit?${query}`, `weir-audit-${format}.${ending}`).catch((error: unknown) => {
      problem = error instanceof Error ? error.message : String(error)
      onChange()
    })
  }

  return {
    open() {
      filters = filtersIn(location.hash)
      load()
    },
    leave: () => request.abort(),
    view: () => html`<main class="list audit">
      <h1 class="title">Audit</h1>
      <p class="faint">Decisions of people about calls, and changes of operators. The newest first.</p>
      <form class="filters open" role="search" onSubmit=${(event: Event) => event.preventDefault()}>
        ${data?.filters.map((one) => filterField(one, { value: filters[one.key] ?? '', onFilter: change }))}
      </form>
      <p class="faint" role="status">${countsOf(data, isLoading)}</p>
      ${alert(problem)}
      <p class="actions">
        ${files.map(([format, name, ending]) => html`<button type="button" class="quiet" onClick=${() => save(format, ending)}>Export ${name}</button>`)}
      </p>
      ${cards('Entries', (data?.entries ?? []).map(entryCard))}
    </main>`,
  }
}

function countsOf(data: AuditData | undefined, isLoading: boolean): string {
  if (data === undefined) return isLoading ? 'Reading the audit.' : ''
  const { entries, left, hidden } = data
  const older = left === 0 ? '' : `, without ${count(left, 'older entry')}: give since and until`
  const unread = hidden === 0 ? '' : `; ${count(hidden, 'record')} cannot be read here`
  return `${count(entries.length, 'entry')}${older}${unread}${isLoading ? ', loading' : ''}`
}

function entryCard(entry: AuditEntry) {
  const { kind, action, at, by, identity, tenant, place } = entry
  const id = `${place.partition}/${place.offset}`
  const author = by === '' ? 'nobody' : `${personName(by)} (${identity})`
  const head = html`<span class=${action === 'deny' ? 'bad' : 'faint'}>${kind} ${action}</span>
    <span class="faint">by ${author}</span>
    <span class="faint deadline">${second(at)}</span>`
  return card(
    { kind: 'entry', id, name: 'name' in entry ? entry.name : entry.setting, head },
    html`${entry.withheld && html`<p class="warning">The content was erased, or is not shown.</p>`}
      ${
        'name' in entry &&
        entry.rawArguments !== null &&
        html`<pre class="quote" tabindex="0" dir="ltr" aria-label="Arguments">${entry.rawArguments}</pre>`
      }
      ${pairs([['tenant', tenant], ...valuesOf(entry)])}`,
  )
}

function valuesOf(entry: AuditEntry): (readonly [string, Child])[] {
  if (!('name' in entry))
    return [
      ['before', entry.before ? html`<code>${entry.before}</code>` : null],
      ['after', entry.after ? html`<code>${entry.after}</code>` : null],
    ]
  const { conversation, agent, id, hash, rule, reason, values, askedAt, at } = entry
  return [
    ['conversation', linkTo(conversation)],
    ['agent', agent],
    ['rule', rule],
    ['reason', reason || null],
    ['values', values || null],
    ['waited', wholeDuration(Math.max(0, at - askedAt))],
    ['then', followedWord(entry)],
    ['approval', html`<code>${id}</code>`],
    ['hash', html`<code>${hash}</code>`],
  ]
}
