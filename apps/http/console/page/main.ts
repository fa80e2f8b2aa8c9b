// The console's page: its pages by the address, the stream of the state, and the keys.
// CONSOLE-PAGE-2. The page decides nothing: a decision is a request, and the stream shows its effect.

import { render } from 'preact'
import { counted } from './ago.ts'
import { budgetsPage } from './budgets-page.ts'
import { confirmations } from './confirmation.ts'
import type { ConsoleState, WaitingCall } from './console-state.ts'
import { conversationPages, type Filters } from './conversation-pages.ts'
import { conversationsView, listKey } from './conversations-view.ts'
import { deadLetters } from './dead-letters.ts'
import { deadLettersView } from './dead-letters-view.ts'
import { guardsPage } from './guards-page.ts'
import { html } from './html.ts'
import { inboxKey, inboxView } from './inbox-view.ts'
import { nowView } from './now-view.ts'
import type { StagesData } from './operator-state.ts'
import { polled } from './poll.ts'
import { type ReportPage, reportPage } from './report-view.ts'
import { follow, hasKey, RequestError, read, send, setKey } from './server.ts'
import { type Stopping, stopDialog } from './stop-dialog.ts'
import { newStop, stopsPage } from './stops-page.ts'

const titles = {
  now: 'Now',
  approvals: 'Approvals',
  conversations: 'Conversations',
  guards: 'Guards',
  stops: 'Stops',
  budgets: 'Budgets',
  letters: 'Dead letters',
} as const

type TitledPage = keyof typeof titles
type PageName = TitledPage | 'conversation'

const titledPages = Object.keys(titles) as TitledPage[]

const root = document.getElementById('console') as HTMLElement
const place = document.getElementById('page') as HTMLElement

let state: ConsoleState | undefined
/** The server's clock minus this one's. */
let skewMs = 0
let connection: 'opening' | 'live' | 'lost' | 'refused' = 'opening'
let problem: string | null = null
let stopping: Stopping | undefined
let stopNote: string | null = null
let report: ReportPage | undefined
/** There is no such conversation. */
let isUnknown = false
let stopReport: AbortController | undefined
let filters: Filters = {}
let showsFilters = false
let accepted: Record<string, readonly string[] | null> = {}
const busy = new Set<string>()
const notes = new Map<string, string>()
const pages = conversationPages(() => draw())
const letters = deadLetters(() => draw())
const confirming = confirmations(() => draw())
const guards = guardsPage(() => draw(), confirming)
const stops = stopsPage(() => draw(), confirming)
const budgets = budgetsPage(() => draw(), confirming)
const stages = polled<StagesData>(() => draw(), 5_000)

// ── The address ──

function pageNow(): { name: PageName; conversation: string } {
  const [, name = '', id = ''] = /^#\/([a-z]+)(?:\/(.*))?$/.exec(location.hash) ?? []
  if (name === 'conversation' && id !== '') return { name, conversation: textOf(id) }
  return { name: titledPages.find((one) => one === name) ?? 'now', conversation: '' }
}

function textOf(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function show(): void {
  report?.leave()
  stopReport?.abort()
  guards.leave()
  stops.leave()
  budgets.leave()
  stages.leave()
  confirming.leave()
  stopping = undefined
  notes.clear()
  report = undefined
  isUnknown = false
  problem = null
  const { name, conversation } = pageNow()
  if (name === 'conversation') openReport(conversation)
  if (name === 'now') stages.open('stages')
  if (name === 'letters') letters.load()
  if (name === 'guards') guards.open()
  if (name === 'stops') stops.open()
  if (name === 'budgets') budgets.open()
  if (name === 'conversations' && pages.loaded === 0) {
    pages.load(filters)
    void read<typeof accepted>('filters').then((values) => {
      accepted = values
      draw()
    }, ignored)
  }
  scrollTo(0, 0)
  draw()
}

function openReport(conversation: string): void {
  const stop = new AbortController()
  stopReport = stop
  const page = reportPage(conversation, place, (error) => {
    isUnknown = error instanceof RequestError && error.status === 404
    problem = error === null ? null : error.message
    draw()
  })
  report = page
  const path = `conversation-live?id=${encodeURIComponent(conversation)}`
  const following = { onEvent: () => page.refresh(), onOpen() {}, onLost() {} }
  void follow(path, following, stop.signal)
}

/** Another request reports the same fault. */
function ignored(): void {}

// ── The state ──

function connect(): void {
  connection = 'opening'
  const stop = new AbortController()
  const onEvent = (name: string, data: unknown) => {
    if (name === 'now') {
      const next = data as Omit<ConsoleState, 'inbox'>
      const isNewLetter = state?.health.deadLetters !== next.health.deadLetters
      if (isNewLetter && pageNow().name === 'letters') letters.load()
      const inbox = state?.inbox ?? { waiting: [], more: 0, decided: [] }
      state = { ...next, inbox }
      skewMs = next.now - Date.now()
    } else if (name === 'inbox' && state !== undefined)
      state = { ...state, inbox: data as ConsoleState['inbox'] }
    draw()
  }
  const onOpen = () => {
    connection = 'live'
    draw()
  }
  const onLost = (error: unknown) => {
    const isRefused =
      error instanceof RequestError && (error.status === 401 || error.status === 403)
    connection = isRefused ? 'refused' : 'lost'
    const isFirst = isRefused && error.status === 401 && !hasKey() // nobody has typed a key yet
    problem = isRefused && !isFirst ? error.message : null
    draw()
  }
  void follow('live', { onEvent, onOpen, onLost }, stop.signal)
}

function decide(call: WaitingCall, answer: 'approve' | 'reject', text: string): void {
  const { id, hash } = call
  if (busy.has(id)) return
  busy.add(id)
  notes.delete(id)
  draw()
  send<{ counted: boolean; text: string }>('decide', {
    id,
    hash,
    answer,
    reason: answer === 'reject' ? text : '',
    ...(answer === 'approve' && text !== '' && { values: text }),
  })
    .then(
      ({ counted: counts, text }) => counts || notes.set(id, text),
      (error: unknown) => notes.set(id, error instanceof Error ? error.message : String(error)),
    )
    .finally(() => {
      busy.delete(id)
      draw()
    })
}

function stop(what: { conversation: string } | { agent: string }): void {
  send<{ cancelled: number }>('cancel', what)
    .then(
      ({ cancelled }) => {
        stopNote =
          cancelled === 0
            ? 'No open turn was found.'
            : `The end of ${counted(cancelled, 'turn')} is requested.`
      },
      (error: unknown) => {
        stopNote = error instanceof Error ? error.message : String(error)
      },
    )
    .finally(draw)
}

// ── The page ──

let isDrawing = false

/** Draws once for all calls before the next frame. A hidden tab has no frames, and its title counts. */
function draw(): void {
  if (isDrawing) return
  isDrawing = true
  if (document.hidden) setTimeout(drawNow)
  else requestAnimationFrame(drawNow)
}

function drawNow(): void {
  if (!isDrawing) return
  isDrawing = false
  render(view(), root)
}

function view() {
  const { name } = pageNow()
  const waiting = (state?.inbox.waiting.length ?? 0) + (state?.inbox.more ?? 0)
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${name === 'conversation' ? 'Conversation' : titles[name]} · Weir console`
  return html`<div class="console">
    <header class="bar">
      <span class="wordmark">weir console</span>
      <nav aria-label="Pages">
        ${titledPages.map(
          (one) => html`<a href=${`#/${one}`} aria-current=${one === name ? 'page' : undefined}>
            ${titles[one]}${one === 'approvals' && waiting > 0 && html` <b class="count">${waiting}<span class="unseen"> waiting</span></b>`}
          </a>`,
        )}
      </nav>
      <span class=${`connection ${connection}`} role="status">${connectionText[connection]}</span>
    </header>
    ${connection === 'refused' ? keyForm() : content(name)}
    ${
      stopping !== undefined &&
      stopDialog(stopping, {
        note: stopNote,
        onStop: stop,
        onLasting(scope, name) {
          stopping = undefined
          confirming.open(newStop(scope, name, draw))
        },
        onClose() {
          stopping = undefined
          draw()
        },
      })
    }
    ${confirming.view()}
  </div>`
}

const connectionText = {
  opening: 'connecting',
  live: 'live',
  lost: 'not connected, this page is old',
  refused: 'no access',
}

function content(name: PageName) {
  const now = Date.now() + skewMs
  const fault = problem !== null && html`<p class="bad problem" role="alert">${problem}</p>`
  if (name === 'conversation') return html`${fault}${!isUnknown && conversationBar()}`
  if (name === 'conversations')
    return conversationsView(pages, {
      now,
      filters,
      accepted,
      showsFilters,
      onToggle() {
        showsFilters = !showsFilters
        draw()
      },
      onFilter(key, value) {
        filters = { ...filters, [key]: value }
        pages.load(filters)
      },
    })
  if (name === 'letters') return deadLettersView(letters, now)
  if (name === 'guards') return guards.view()
  if (name === 'stops') return stops.view(now)
  if (name === 'budgets') return budgets.view()
  if (state === undefined) return html`<main><p class="faint">Reading the log.</p></main>`
  if (name === 'approvals') return inboxView(state, { now, busy, notes, decide })
  return nowView(state, { now, stages, onCancel: openStop })
}

function openStop({ conversation, agent }: Stopping): void {
  stopping = { conversation, agent }
  stopNote = null
  draw()
}

function conversationBar() {
  const { conversation } = pageNow()
  const open = state?.turns.shown.find((turn) => turn.conversation === conversation)
  return html`<div class="conversation-bar">
    <button type="button" class="reject" onClick=${() => openStop({ conversation, agent: open?.agent ?? null })}>Stop…</button>
    ${confirming.note !== null && html`<span class="good" role="status">${confirming.note}</span>`}
  </div>`
}

function keyForm() {
  const onSubmit = (event: Event) => {
    event.preventDefault()
    setKey(String(new FormData(event.currentTarget as HTMLFormElement).get('key') ?? ''))
    problem = null
    connect()
    show()
  }
  return html`<main class="access">
    <h1 class="title">This server asks for a key</h1>
    ${problem !== null && html`<p class="bad" role="alert">${problem}</p>`}
    <form onSubmit=${onSubmit}>
      <label><span>API key or token</span><input name="key" type="password" autocomplete="off" required /></label>
      <button type="submit" class="approve">Open</button>
    </form>
    <p class="faint">The key stays in this tab.</p>
  </main>`
}

// ── Keys ──

const pageKeys: Record<string, string> = Object.fromEntries(
  titledPages.map((name, place) => [`${place + 1}`, `#/${name}`]),
)

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return
  if (document.querySelector('dialog[open]') !== null) return
  const { target, key } = event
  const isTyping = target instanceof HTMLInputElement || target instanceof HTMLSelectElement
  if (isTyping) {
    if (key === 'Escape') (target.closest<HTMLElement>('[data-call]') ?? document.body).focus()
    if (key === 'Escape') target.blur()
    return
  }
  if (event.repeat && key !== 'j' && key !== 'k') return
  const page = Object.hasOwn(pageKeys, key) ? pageKeys[key] : undefined
  const { name } = pageNow()
  if (page !== undefined) location.hash = page
  else if (name === 'approvals') {
    if (!inboxKey(key, state?.inbox.waiting ?? [], decide)) return
  } else if (name !== 'conversations' || !listKey(key)) return
  event.preventDefault()
}

addEventListener('hashchange', show)
addEventListener('keydown', pressed)
addEventListener('scroll', () => pageNow().name === 'conversations' && draw(), { passive: true })
addEventListener('resize', draw)
document.addEventListener('visibilitychange', drawNow)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
setInterval(draw, 1_000)
connect()
show()
