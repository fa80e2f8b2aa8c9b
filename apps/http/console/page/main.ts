// The console's page: its pages by the address, the stream of the state, and the keys.
// The page decides nothing: a decision is a request, and the stream shows its effect.

import { render } from 'preact'
import { decodedPart } from '../../../../shared/lib/text/decoded-part.ts'
import { type Child, html } from '../../../page/kit/html.ts'
import { alert, readingPage } from '../../../page/kit/parts.ts'
import { count } from '../../../terminal/text/quantities.ts'
import { auditPage } from './audit/audit-page.ts'
import type { ConsoleState, FilterData, MeData, WaitingCall } from './console-state.ts'
import { conversationBar } from './conversations/conversation-bar.ts'
import { conversationPages } from './conversations/conversation-pages.ts'
import { conversationsView, listKey } from './conversations/conversations-view.ts'
import { type ReportPage, reportPage } from './conversations/report-view.ts'
import { treePage } from './conversations/tree-page.ts'
import { callReasons } from './inbox/call-reasons.ts'
import { inboxKey, inboxView } from './inbox/inbox-view.ts'
import { deadLetters } from './letters/dead-letters.ts'
import { deadLettersView } from './letters/dead-letters-view.ts'
import { nowView } from './now/now-view.ts'
import { type Stopping, stopDialog } from './now/stop-dialog.ts'
import { budgetsPage } from './operator/budgets-page.ts'
import { guardsPage } from './operator/guards-page.ts'
import { newStop, stopsPage } from './operator/stops-page.ts'
import type { StagesData } from './operator-state.ts'
import { personName } from './parts/ago.ts'
import { confirmations } from './parts/confirmation.ts'
import { addressOf, type Filters, filtersIn, withFilter } from './parts/filters.ts'
import { polled } from './parts/poll.ts'
import {
  follow,
  hasKey,
  login,
  logout,
  placeOfLogin,
  RequestError,
  read,
  send,
  setKey,
} from './parts/server.ts'

type ConsolePage = {
  title: string
  /** `conversation`: of the address. */
  open?: (conversation: string) => void
  leave?: () => void
  view: (now: number) => Child
  /** True: the page uses the key. */
  onKey?: (key: string) => boolean
}

const root = document.getElementById('console') as HTMLElement
const place = document.getElementById('page') as HTMLElement

let state: ConsoleState | undefined
/** The server's clock minus this one's. */
let skewMs = 0
let connection: 'opening' | 'live' | 'lost' | 'refused' = 'opening'
let problem: string | null = null
/** The server offers a login. */
let hasLogin = false
/** The account that is logged in has no access. */
let hasLogout = false
/** Undefined: not known yet. */
let me: MeData | undefined
let stopping: Stopping | undefined
let stopNote: string | null = null
let report: ReportPage | undefined
/** There is no such conversation. */
let isUnknown = false
let stopReport: AbortController | undefined
/** Of the address. */
let filters: Filters = {}
let loadTimer: ReturnType<typeof setTimeout> | undefined
let showsFilters = false
let filterKeys: FilterData[] = []
const busy = new Set<string>()
const notes = new Map<string, string>()
const pages = conversationPages(() => draw())
const reasons = callReasons(() => draw())
const letters = deadLetters(() => draw())
const confirming = confirmations(
  () => draw(),
  () => [...new Set(state?.turns.shown.map(({ conversation }) => conversation))],
)
const bar = conversationBar(() => draw(), confirming, {
  onStop: (stopped) => openStop({ conversation: pageNow().conversation, ...stopped }),
  onTitled: () => report?.refresh(),
})
const stages = polled<StagesData>(() => draw(), 5_000)

/** In the order of their keys. */
const consolePages: Record<string, ConsolePage> = {
  now: {
    title: 'Now',
    open: () => stages.open('stages'),
    leave: () => stages.leave(),
    view: withState((shown, now) => nowView(shown, { now, stages, onCancel: openStop })),
  },
  approvals: {
    title: 'Approvals',
    view: withState((shown, now) =>
      inboxView(shown, { now, reasonOf: reasons.of, busy, notes, decide }),
    ),
    onKey: (key) => inboxKey(key, state?.inbox.waiting ?? [], decide),
  },
  conversations: {
    title: 'Conversations',
    open: openConversations,
    view: listView,
    onKey: listKey,
  },
  guards: { title: 'Guards', ...guardsPage(() => draw(), confirming) },
  stops: { title: 'Stops', ...stopsPage(() => draw(), confirming) },
  budgets: { title: 'Budgets', ...budgetsPage(() => draw(), confirming) },
  letters: {
    title: 'Dead letters',
    open: () => letters.load(),
    view: (now) => deadLettersView(letters, { now, confirmations: confirming }),
  },
  audit: { title: 'Audit', ...auditPage(() => draw()) },
}
const conversationPage: ConsolePage = {
  title: 'Conversation',
  open: openReport,
  leave() {
    report?.leave()
    stopReport?.abort()
    report = undefined
    bar.leave()
  },
  view() {
    const { conversation } = pageNow()
    if (problem === null) return !isUnknown && bar.view(conversation, report?.data)
    return html`${report?.data === undefined && html`<h1 class="title">${conversation}</h1>`}
      <p class="bad problem" role="alert">${problem}</p>`
  },
}
/** By the name in the address, in front of the conversation. */
const pagesOfIds: Record<string, ConsolePage> = {
  conversation: conversationPage,
  tree: { title: 'Tree', ...treePage(() => draw(), confirming) },
}
let current: ConsolePage | undefined

// ── The address ──

function pageNow(): { name: string; conversation: string; page: ConsolePage } {
  const [, name = '', id = ''] = /^#\/([a-z]+)(?:\/([^?]*))?(?:\?.*)?$/.exec(location.hash) ?? []
  const page = Object.hasOwn(pagesOfIds, name) ? pagesOfIds[name] : undefined
  if (page !== undefined && id !== '') return { name, conversation: decodedPart(id), page }
  const known = Object.hasOwn(consolePages, name) ? name : 'now'
  return { name: known, conversation: '', page: consolePages[known] as ConsolePage }
}

function show(): void {
  current?.leave?.()
  confirming.leave()
  stopping = undefined
  notes.clear()
  isUnknown = false
  problem = null
  const { page, conversation } = pageNow()
  current = page
  page.open?.(conversation)
  scrollTo(0, 0)
  draw()
}

/** The address has the filters, so a link shows the same list. */
function openConversations(): void {
  filters = filtersIn(location.hash)
  pages.load(filters)
  void read<FilterData[]>('filters').then((keys) => {
    filterKeys = keys
    draw()
  }, ignored)
}

/** So long after the last key the list is loaded. */
const typedMs = 250

function changeFilter(key: string, value: string): void {
  filters = withFilter(filters, key, value)
  history.replaceState(null, '', addressOf('conversations', filters))
  clearTimeout(loadTimer)
  loadTimer = setTimeout(() => pages.load(filters), key === 'text' ? typedMs : 0)
  draw()
}

function openReport(conversation: string): void {
  bar.open(conversation)
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
    void read<MeData>('me').then((data) => {
      me = data
      draw()
    }, ignored)
    draw()
  }
  const onLost = (error: unknown) => {
    const isRefused =
      error instanceof RequestError && (error.status === 401 || error.status === 403)
    connection = isRefused ? 'refused' : 'lost'
    hasLogin = error instanceof RequestError && error.hasLogin
    hasLogout = error instanceof RequestError && error.hasLogout
    const isFirst = isRefused && error.status === 401 && !hasKey() // nobody has typed a key yet
    problem = isRefused && !isFirst ? error.message : null
    draw()
  }
  void follow('live', { onEvent, onOpen, onLost }, stop.signal)
}

function decide(call: WaitingCall, answer: 'allow' | 'deny', text: string): void {
  const { id, hash } = call
  if (busy.has(id)) return
  busy.add(id)
  notes.delete(id)
  draw()
  send<{ counted: boolean; text: string }>('decide', {
    id,
    hash,
    answer,
    reason: answer === 'deny' ? text : '',
    ...(answer === 'allow' && text !== '' && { values: text }),
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
            : `The end of ${count(cancelled, 'turn')} is requested.`
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
  const { name, page } = pageNow()
  const waiting = (state?.inbox.waiting.length ?? 0) + (state?.inbox.more ?? 0)
  document.title = `${waiting > 0 ? `(${waiting}) ` : ''}${page.title} · Weir console`
  return html`<div class="console">
    <header class="bar">
      <span class="wordmark">weir console</span>
      <nav aria-label="Pages">
        ${Object.entries(consolePages).map(
          ([
            one,
            { title },
          ]) => html`<a href=${`#/${one}`} aria-current=${one === name ? 'page' : undefined}>
            ${title}${one === 'approvals' && waiting > 0 && html` <b class="count">${waiting}<span class="unseen"> waiting</span></b>`}
          </a>`,
        )}
      </nav>
      ${me?.isSession === true && connection !== 'refused' && html`<span class="me"><span class="faint">${personName(me.name)}</span> <button type="button" class="quiet" onClick=${leaveSession}>Log out</button></span>`}
      <span class=${`connection ${connection}`} role="status">${connectionText[connection]}</span>
    </header>
    ${connection === 'refused' ? keyForm() : page.view(Date.now() + skewMs)}
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

/** The view of a page that needs the state. */
function withState(view: (shown: ConsoleState, now: number) => Child): (now: number) => Child {
  return (now) =>
    state === undefined ? readingPage(pageNow().page.title, 'Reading the log.') : view(state, now)
}

function listView(now: number) {
  return conversationsView(pages, {
    now,
    filters,
    keys: filterKeys,
    showsFilters,
    onToggle() {
      showsFilters = !showsFilters
      draw()
    },
    onFilter: changeFilter,
  })
}

function openStop({ conversation, agent, tree }: Stopping): void {
  stopping = { conversation, agent, tree }
  stopNote = null
  draw()
}

function leaveSession(): void {
  logout().catch((error: unknown) => {
    problem = error instanceof Error ? error.message : String(error)
    draw()
  })
}

function accessTitle(): string {
  if (hasLogout) return 'This account may not open the console'
  return hasLogin ? 'This server asks who you are' : 'This server asks for a key'
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
    <h1 class="title">${accessTitle()}</h1>
    ${alert(problem)}
    ${hasLogin && html`<p><button type="button" class="allow" onClick=${login}>Log in</button></p>`}
    ${hasLogout && html`<p><button type="button" class="allow" onClick=${leaveSession}>Log out</button></p>`}
    <form onSubmit=${onSubmit}>
      <label><span>API key or token</span><input name="key" type="password" autocomplete="off" required /></label>
      <button type="submit" class="allow">Open</button>
    </form>
    <p class="faint">The key stays in this tab.</p>
  </main>`
}

// ── Keys ──

const pageKeys: Record<string, string> = Object.fromEntries(
  Object.keys(consolePages).map((name, place) => [`${place + 1}`, `#/${name}`]),
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
  if (page !== undefined) location.hash = page
  else if (!pageNow().page.onKey?.(key)) return
  event.preventDefault()
}

/** The address that `weir serve` prints has its key. It leaves the address before anything is shown. */
function takeKey(): boolean {
  const [, key] = /^#\/key\/(.+)$/.exec(location.hash) ?? []
  if (key === undefined) return false
  setKey(key)
  history.replaceState(null, '', '#/now')
  return true
}

addEventListener('hashchange', () => (takeKey() ? location.reload() : show()))
addEventListener('keydown', pressed)
addEventListener('scroll', () => pageNow().name === 'conversations' && draw(), { passive: true })
addEventListener('resize', draw)
document.addEventListener('visibilitychange', drawNow)
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw)
setInterval(draw, 1_000)
takeKey()
const placeBefore = placeOfLogin()
if (placeBefore !== undefined) history.replaceState(null, '', placeBefore || '#/now')
connect()
show()
