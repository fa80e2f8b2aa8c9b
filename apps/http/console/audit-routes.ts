// The audit over HTTP: `GET /v1/audit` for a key of one tenant or of all, and the same entries for the page
// of the console. Both can send a file.
// A principal with a tenant gets the entries that concern this tenant alone, with the
// ids of conversations that it knows. It needs the role `read`.
// A tenant reads once at a time, and waits in its own line. A client that leaves while
// it waits reads nothing.

import { Hono } from 'hono'
import { refuseUnknownKeys } from '../../../client/known-keys.ts'
import { limits } from '../../../shared/contract/limits.ts'
import { usageError } from '../../../shared/lib/errors.ts'
import { createSlots } from '../../../shared/lib/slots.ts'
import { type AuditEntry, auditKinds } from '../../../shared/view/audit/entries.ts'
import { auditWhere } from '../../history/audit/audit.ts'
import { auditFormats } from '../../history/audit/formats.ts'
import { type AuditList, readAudit } from '../../history/audit/read.ts'
import { printable, printableJson } from '../../terminal/text/printable.ts'
import { conversationFor, type Principal } from '../edge/access/principal.ts'
import type { EdgeContext } from '../edge/edge-context.ts'
import { HttpError } from '../http-error.ts'
import type { HttpApp, HttpContext } from '../server.ts'
import type { ConsoleParts } from './console-parts.ts'
import type { AuditData, FilterData } from './page/console-state.ts'
import { isUnredacted, within } from './route-parts.ts'

/** The newest audit entries in an answer from the console's API. */
const consoleAuditMax = 1_000
/** The newest audit entries in a file from the API, and the file's bytes at most. */
const auditExportMax = 10_000
const auditExportBytesMax = 64 * 1024 * 1024

const filterKeys = ['kind', 'by', 'tool', 'tenant', 'since', 'until'] as const
const parameters = [...filterKeys, 'format', 'unredacted']
const fileFormats = { json: printableJson, ...auditFormats } as const

/** `api`: the path of the console's other routes, which check that the principal has no tenant. */
export function auditApi(edge: EdgeContext, { log }: ConsoleParts, api: string): HttpApp {
  const app: HttpApp = new Hono()
  const reads = createSlots(limits.consoleReportsMax, { lineMax: 1 })

  async function listFor(context: HttpContext, max: number): Promise<AuditList> {
    const principal = edge.principalOf(context.req.raw, 'read')
    const { unredacted: _, format: __, ...asked } = context.req.query()
    refuseUnknownKeys(context.req.query(), parameters, { code: 'usage', subject: 'the query' })
    const where = auditWhere({ ...asked, ...tenantOf(principal, asked) }, edge.clock.now(), '')
    const opened = { ...log, unredacted: isUnredacted(edge, context) }
    // No tenant has the name of the line of all tenants.
    const place = { line: principal.tenant ?? '*', outgoing: context.env.outgoing }
    const list = await within(reads, () => readAudit(opened, where, max), place)
    return { ...list, entries: list.entries.map((entry) => shownTo(principal, entry)) }
  }

  async function file(context: HttpContext, format: string): Promise<Response> {
    const lineOf = Object.entries(fileFormats).find(([name]) => name === format)?.[1]
    if (lineOf === undefined)
      throw usageError(
        `unknown format '${printable(format)}' (format). Formats: ${Object.keys(fileFormats).join(', ')}`,
      )
    const { entries, left } = await listFor(context, auditExportMax)
    const lines = newestWithin(entries, lineOf, auditExportBytesMax)
    const type = format === 'cef' ? 'text/plain; charset=utf-8' : 'application/x-ndjson'
    return context.body(new Blob(lines).stream(), 200, {
      'content-type': type,
      'content-disposition': 'attachment',
      'x-weir-entries-left': `${left + entries.length - lines.length}`,
    })
  }

  app.get('/v1/audit', async (context) => {
    context.env.outgoing.setHeader('cache-control', 'no-store')
    const { format } = context.req.query()
    if (format !== undefined) return file(context, format)
    const { entries, left } = await listFor(context, consoleAuditMax)
    return context.json({ entries: entries.toReversed(), left })
  })

  app.get(`${api}/audit`, async (context) => {
    const { format } = context.req.query()
    if (format !== undefined) return file(context, format)
    const { entries, left, hidden, names } = await listFor(context, consoleAuditMax)
    const filters = filterKeys.map((key) => filterData(key, names))
    const data: AuditData = { entries: entries.toReversed(), left, hidden, filters }
    return context.json(data)
  })

  return app
}

/** The lines of the newest entries that fit together, in their order. */
export function newestWithin<Entry>(
  entries: readonly Entry[],
  lineOf: (entry: Entry) => string,
  bytesMax: number,
): string[] {
  const lines: string[] = []
  let bytes = 0
  for (const entry of entries.toReversed()) {
    const line = `${lineOf(entry)}\n`
    bytes += Buffer.byteLength(line)
    if (bytes > bytesMax) break
    lines.push(line)
  }
  return lines.reverse()
}

/** Throws 403. */
function tenantOf({ tenant }: Principal, asked: { tenant?: string }): { tenant?: string } {
  if (tenant === null) return {}
  if (asked.tenant === undefined || asked.tenant === tenant) return { tenant }
  throw new HttpError(
    403,
    'edge.tenant',
    'a key of one tenant gets the entries of this tenant: leave the parameter tenant out',
  )
}

function shownTo(principal: Principal, entry: AuditEntry): AuditEntry {
  if (!('name' in entry)) return entry
  const conversation = conversationFor(principal, entry.conversation) ?? entry.conversation
  return { ...entry, conversation }
}

function filterData(
  key: (typeof filterKeys)[number],
  { by, tool }: AuditList['names'],
): FilterData {
  if (key === 'kind') return { key, accepted: auditKinds, known: null }
  const known = { by, tool, tenant: null, since: null, until: null }[key]
  return { key, accepted: null, known: known && [...known].sort().slice(0, namesMax) }
}

/** Suggestions of a field. */
const namesMax = 100
