// The console's routes for a conversation: page, report as a file, bundle, and a waiting call's
// reason.

import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import type { Conversation } from '../../../client/weir.ts'
import { parseConversationId } from '../../../shared/contract/ids.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { pageHtml } from '../../report/page-html.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { HttpError } from '../http-error.ts'
import type { HttpApp } from '../server.ts'
import type { ConsoleParts } from './console-parts.ts'
import { isUnredacted, within } from './route-parts.ts'
import { callContext, conversationData } from './state/conversation-data.ts'

/** A bundle that the console sends, which it reads into memory. */
export const consoleExportBytesMax = 64 * 1024 * 1024

/** Under the path and the checks of the console's other routes. */
export function conversationApi(
  edge: EdgeContext,
  { log, source }: ConsoleParts,
  api: string,
): HttpApp {
  const { weirOf, principalOf } = edge
  const app: HttpApp = new Hono()
  const reports = createSlots(limits.consoleReportsMax)

  app.get(`${api}/conversation`, async (context) => {
    const id = parseConversationId(context.req.query('id') ?? '')
    const unredacted = isUnredacted(edge, context)
    const opened = { log: { ...log, unredacted }, source }
    return context.json(await within(reports, () => conversationData(id, opened)))
  })

  app.get(`${api}/report`, async (context) => {
    const id = parseConversationId(context.req.query('id') ?? '')
    const unredacted = isUnredacted(edge, context)
    const opened = { log: { ...log, unredacted }, source, madeAt: edge.clock.now() }
    const { index, ...report } = await within(reports, () => conversationData(id, opened))
    return context.body(new Blob(pageHtml(index, [report])).stream(), 200, {
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
    })
  })

  app.get(`${api}/export`, async (context) => {
    const principal = principalOf(context.req.raw)
    const id = parseConversationId(context.req.query('id') ?? '')
    const unredacted = isUnredacted(edge, context)
    const conversation = weirOf(principal).conversation(id)
    const bundle = await within(reports, () => exportedBytes(conversation, unredacted))
    return context.body(new Blob([bundle]).stream(), 200, {
      'content-type': 'application/octet-stream',
      'content-disposition': 'attachment',
    })
  })

  app.get(`${api}/call-context`, async (context) => {
    const { conversation = '', turn = '', round = '' } = context.req.query()
    const place = {
      conversation: parseConversationId(conversation),
      turn: Number(turn),
      round: Number(round),
    }
    return context.json(await within(reports, () => callContext(place, log)))
  })

  return app
}

/** The file of `weir export`. Throws 413. */
async function exportedBytes(
  conversation: Conversation,
  unredacted: boolean,
): Promise<Uint8Array<ArrayBuffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-export-'))
  try {
    const file = join(folder, 'conversation.weir')
    await conversation.export(file, { unredacted })
    const { size } = await stat(file)
    if (size > consoleExportBytesMax)
      throw new HttpError(
        413,
        'http.body',
        `the bundle has ${size} bytes, more than the ${consoleExportBytesMax} that the console sends: run weir export --conversation on the log`,
      )
    return new Uint8Array(await readFile(file))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
