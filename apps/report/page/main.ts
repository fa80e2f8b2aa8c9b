// The start of the page's script: reads the data and shows the index, or the conversation in the
// address.

import { render } from 'preact'
import { conversationView, nothingKept, type View } from './conversation-view.ts'
import type { RecordTable, ReportData, ReportIndex } from './data.ts'
import { indexView } from './top/index-view.ts'

/** Written by apps/report/page-html.ts. */
function dataIn<T>(id: string): T {
  return JSON.parse(document.getElementById(id)?.textContent ?? 'null')
}

function start(node: HTMLElement): void {
  const index = dataIn<ReportIndex>('index')
  let view: View | undefined

  function show(): void {
    view?.leave()
    view = undefined
    render(null, node)
    const place = index.conversations.length === 1 ? 0 : Number.parseInt(location.hash.slice(1), 10)
    if (!index.conversations.some((one) => one.place === place)) {
      render(indexView(index), node)
      return
    }
    const data = dataIn<ReportData>(`data-${place}`)
    const readRecords = () => dataIn<RecordTable>(`records-${place}`)
    view = conversationView({ data, index, readRecords, node, kept: nothingKept() })
    window.scrollTo(0, 0)
  }

  window.addEventListener('hashchange', show)
  node.replaceChildren()
  show()
}

const page = document.getElementById('page')
if (page !== null) start(page)
