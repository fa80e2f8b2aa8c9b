// The start of the page's script: reads the data and shows the index, or the conversation in the
// address.

import { conversationView, type View } from './conversation-view.ts'
import type { RecordTable, ReportData, ReportIndex } from './data.ts'
import { fill } from './element.ts'
import { helpDialog } from './help.ts'
import { indexView } from './index-view.ts'
import { openHelp } from './keys.ts'

/** Written by apps/report/page-html.ts. */
function dataIn<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null')
}

function start(): void {
  const page = document.getElementById('page')
  if (page === null) return
  const index = dataIn<ReportIndex>('index')
  const dialog = helpDialog()
  let view: View | undefined

  function show(): void {
    view?.leave()
    view = undefined
    const place = index.conversations.length === 1 ? 0 : Number.parseInt(location.hash.slice(1), 10)
    const entry = index.conversations.find((one) => one.place === place)
    if (page === null) return
    if (entry === undefined) {
      fill(page, indexView(index), dialog)
      return
    }
    view = conversationView(dataIn<ReportData>(`data-${place}`), index, () =>
      dataIn<RecordTable>(`records-${place}`),
    )
    fill(page, view.node, dialog)
    view.drawn()
    window.scrollTo(0, 0)
  }

  window.addEventListener('hashchange', show)
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-help]') !== null) openHelp()
  })
  show()
}

start()
