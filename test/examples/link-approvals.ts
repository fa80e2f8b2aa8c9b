// Sends each approver an e-mail with a signed link about each waiting call. The link opens a page with the
// exact call. Only its form decides, because scanners of mail open links too. The decision has a key of Weir
// for this person, so the log has the proven name.

import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { jwtVerify, SignJWT } from 'jose'
import { Webhook } from 'standardwebhooks'

const { env } = process
const weirUrl = env.WEIR_URL ?? 'http://127.0.0.1:8080'
/** The address of this program for the approvers, such as `https://approve.example.com`. */
const publicUrl = env.PUBLIC_URL ?? 'http://127.0.0.1:3000'
/** Keys of Weir with the role `decide`, by the address of the approver: `{"ada@example.com": "wk_…"}`. */
const keys = new Map<string, string>(Object.entries(JSON.parse(env.WEIR_KEYS ?? '{}')))
const webhook = new Webhook(env.WEIR_WEBHOOK_SECRET ?? '')
const linkSecret = new TextEncoder().encode(env.LINK_SECRET)
if (linkSecret.length < 32) throw new Error('LINK_SECRET has fewer than 32 bytes; set a longer one')
const linkMinutes = Number(env.LINK_MINUTES ?? 60)
const bodyMax = 64 * 1024
/** With the time at which the link has ended, oldest first. */
const seen = new Map<string, number>()
const used = new Map<string, number>()

type Waiting = { id: string; hash: string; name: string; rawArguments: string; rule: string }
type Answer = { approvals?: Waiting[]; text?: string; error?: { message: string } }
type Link = { id: string; hash: string; approver: string; jti: string }
type Page = { status: number; html: string }

/** Forgets the entries whose link has ended: a link that is too old decides nothing. */
function live(entries: Map<string, number>): Map<string, number> {
  for (const [entry, endsAt] of entries) {
    if (endsAt > Date.now()) break
    entries.delete(entry)
  }
  return entries
}

const linkEnd = () => Date.now() + linkMinutes * 60_000

async function weir(path: string, key: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${weirUrl}/v1/approvals${path}`, { headers, ...sent })
  return (await response.json()) as Answer
}

/** The webhook and the link have no arguments, so they come from the server. Undefined: decided already. */
async function waitingCall(id: string): Promise<Waiting | undefined> {
  const { approvals, error } = await weir('', env.WEIR_READ_KEY ?? '')
  if (approvals === undefined) throw new Error(`Weir refused the list: ${error?.message}`)
  return approvals.find((one) => one.id === id)
}

async function mail(to: string, link: string): Promise<void> {
  const text = `A call of an agent waits for you. The link is yours alone, and opens for ${linkMinutes} minutes:\n\n${link}\n`
  const head = [
    `From: ${env.MAIL_FROM ?? 'weir@localhost'}`,
    `To: ${to}`,
    'Subject: A call waits for your approval',
    'Content-Type: text/plain; charset=utf-8',
    'Content-Transfer-Encoding: base64',
  ]
  const lines = Buffer.from(text).toString('base64').replace(/.{76}/g, '$&\n')
  await new Promise<void>((resolve, reject) => {
    const sender = execFile(env.SENDMAIL ?? 'sendmail', ['-t', '-i'], (error) =>
      error === null ? resolve() : reject(error),
    )
    sender.stdin?.on('error', reject).end(`${head.join('\n')}\n\n${lines}\n`)
  })
}

async function onWeir(request: IncomingMessage): Promise<number> {
  const body = await textOf(request)
  const header = (name: string) => String(request.headers[`webhook-${name}`])
  const names = ['id', 'timestamp', 'signature']
  try {
    webhook.verify(body, Object.fromEntries(names.map((name) => [`webhook-${name}`, header(name)])))
  } catch {
    return 401
  }
  const { type, data } = JSON.parse(body)
  const waiting = type === 'approval.pending' ? await waitingCall(data.id) : undefined
  if (waiting === undefined) return 204
  for (const approver of keys.keys()) {
    const sent = `${header('id')} ${approver}`
    if (live(seen).has(sent)) continue // Weir sends the event again after an error
    const token = await new SignJWT({ id: waiting.id, hash: waiting.hash, approver })
      .setProtectedHeader({ alg: 'HS256' })
      .setJti(randomUUID())
      .setExpirationTime(`${linkMinutes} minutes`)
      .sign(linkSecret)
    await mail(approver, `${publicUrl}/decide?link=${token}`)
    seen.set(sent, linkEnd())
  }
  return 204
}

/** A text: the reason why the link opens nothing. */
async function linkIn(token: string | null): Promise<(Link & { key: string }) | string> {
  try {
    const options = { algorithms: ['HS256'] }
    const { payload } = await jwtVerify<Link>(token ?? '', linkSecret, options)
    if (live(used).has(payload.jti)) return 'This link was used already.'
    const key = keys.get(payload.approver)
    return key === undefined ? `${payload.approver} may no longer decide.` : { ...payload, key }
  } catch {
    return 'This link is wrong or too old.'
  }
}

const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (status: number, content: string): Page => ({
  status,
  html: `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Weir</title>${content}`,
})

const notice = (status: number, text: string) => page(status, `<p>${escaped(text)}</p>`)

async function onLink(token: string | null): Promise<Page> {
  const link = await linkIn(token)
  if (typeof link === 'string') return notice(403, link)
  const call = await waitingCall(link.id)
  if (call === undefined) return notice(410, 'This call waits no longer.')
  const button = (answer: string) => `<button name="answer" value="${answer}">${answer}</button>`
  return page(
    200,
    `<h1>${escaped(call.name)}</h1><p>Rule: ${escaped(call.rule)}</p>
<pre>${escaped(call.rawArguments)}</pre><p>You decide as ${escaped(link.approver)}.</p>
<form method="post" action="decide"><input type="hidden" name="link" value="${escaped(token ?? '')}">
${button('allow')} ${button('deny')}</form>`,
  )
}

async function onForm(request: IncomingMessage): Promise<Page> {
  const form = new URLSearchParams(await textOf(request))
  const answer = form.get('answer')
  const link = await linkIn(form.get('link'))
  if (typeof link === 'string') return notice(403, link)
  if (answer !== 'allow' && answer !== 'deny') return notice(400, 'Choose allow or deny.')
  const { id, hash, key, jti } = link
  used.set(jti, linkEnd())
  // Weir decides a call once, also if the first answer was lost.
  const { text, error } = await weir(`/${id}/${answer}`, key, { hash }).catch((cause) => {
    used.delete(jti)
    throw cause
  })
  if (text === undefined) used.delete(jti)
  return text === undefined ? notice(502, `Weir: ${error?.message}`) : notice(200, text)
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    bytes += piece.length
    if (bytes > bodyMax) throw new Error(`a request has more than ${bodyMax} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

async function pageOf(request: IncomingMessage): Promise<Page> {
  const { pathname, searchParams } = new URL(request.url ?? '', publicUrl)
  if (pathname === '/weir') return { status: await onWeir(request), html: '' }
  if (!pathname.endsWith('/decide')) return notice(404, 'Nothing is here.')
  return request.method === 'POST' ? onForm(request) : onLink(searchParams.get('link'))
}

createServer(async (request, response) => {
  const { status, html } = await pageOf(request).catch((error: Error) => {
    console.error(error.message)
    return notice(500, 'This failed. Its reason is in the log of this program.')
  })
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
  response.end(html)
}).listen(3000)
