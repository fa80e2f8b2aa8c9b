// Asks a channel of Slack about each waiting call, with two buttons. The person who presses one decides
// with a key of Weir for this person, so the log has the proven name.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'

const { env } = process
const weirUrl = env.WEIR_URL ?? 'http://127.0.0.1:8080'
const slackUrl = env.SLACK_API_URL ?? 'https://slack.com/api'
/** Keys of Weir with the role `decide`, by the user of Slack: `{"U024BE7LH": "wk_…"}`. */
const keys: Record<string, string> = JSON.parse(env.WEIR_KEYS ?? '{}')
const webhook = new Webhook(env.WEIR_WEBHOOK_SECRET ?? '')
/** The newest events. */
const seen = new Set<string>()
const seenMax = 10_000
/** A longer text does not fit into a message of Slack, and nobody may decide unseen. */
const shownMax = 2_900

type Answer = { approvals?: Waiting[]; text?: string; error?: { message: string } }

type Waiting = { id: string; hash: string; name: string; rawArguments: string; rule: string }

async function weir(path: string, key: string, body?: object) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
  const response = await fetch(`${weirUrl}/v1/approvals${path}`, { headers, ...sent })
  return (await response.json()) as Answer
}

async function slack(url: string, message: object): Promise<void> {
  const headers = {
    authorization: `Bearer ${env.SLACK_BOT_TOKEN}`,
    'content-type': 'application/json; charset=utf-8',
  }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) })
  const answer = await response.text() // a refusal has the status 200
  if (!response.ok || answer.includes('"ok":false'))
    throw new Error(`Slack answered ${response.status}: ${answer}`)
}

/** Plain text: arguments are no markup. */
const section = (shown: string) => ({ type: 'section', text: { type: 'plain_text', text: shown } })

const button = (answer: 'allow' | 'deny', { id, hash }: Waiting) => ({
  type: 'button',
  action_id: answer,
  style: answer === 'allow' ? 'primary' : 'danger',
  text: { type: 'plain_text', text: answer === 'allow' ? 'Allow' : 'Deny' },
  value: JSON.stringify({ id, hash }),
})

/** The webhook of Weir has no arguments, so they come from its server. */
async function onWeir(request: IncomingMessage): Promise<number> {
  const body = await text(request)
  const header = (name: string) => String(request.headers[`webhook-${name}`])
  const names = ['id', 'timestamp', 'signature']
  try {
    webhook.verify(body, Object.fromEntries(names.map((name) => [`webhook-${name}`, header(name)])))
  } catch {
    return 401
  }
  const { type, data } = JSON.parse(body)
  if (type !== 'approval.pending' || seen.has(header('id'))) return 204
  const { approvals, error } = await weir('', env.WEIR_READ_KEY ?? '')
  // Weir sends the event again after an error.
  if (approvals === undefined) throw new Error(`Weir refused the list: ${error?.message}`)
  const waiting = approvals.find(({ id }) => id === data.id)
  if (waiting === undefined) return 204 // decided already
  const shown = `${waiting.rule}: ${waiting.name} ${waiting.rawArguments}`
  const isWhole = shown.length <= shownMax
  await slack(`${slackUrl}/chat.postMessage`, {
    channel: env.SLACK_CHANNEL,
    text: `${waiting.name} waits for a person`,
    blocks: [
      section(isWhole ? shown : `${shown.slice(0, shownMax)}… Read it whole: weir approvals`),
      {
        type: 'actions',
        elements: [...(isWhole ? [button('allow', waiting)] : []), button('deny', waiting)],
      },
    ],
  })
  seen.add(header('id'))
  const [oldest] = seen
  if (seen.size > seenMax && oldest !== undefined) seen.delete(oldest)
  return 204
}

function isOfSlack(request: IncomingMessage, body: string): boolean {
  const at = String(request.headers['x-slack-request-timestamp'])
  if (!(Math.abs(Date.now() / 1000 - Number(at)) < 300)) return false
  const own = createHmac('sha256', env.SLACK_SIGNING_SECRET ?? '').update(`v0:${at}:${body}`)
  const given = Buffer.from(String(request.headers['x-slack-signature']))
  const expected = Buffer.from(`v0=${own.digest('hex')}`)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

async function onSlack(request: IncomingMessage, response: ServerResponse): Promise<number> {
  const body = await text(request)
  if (!isOfSlack(request, body)) return 401
  response.writeHead(200).end() // Slack waits three seconds
  const {
    user,
    actions,
    response_url: url,
  } = JSON.parse(new URLSearchParams(body).get('payload') ?? '{}')
  const { action_id: answer, value } = actions[0]
  const key = keys[user.id]
  if (key === undefined) {
    await slack(url, { replace_original: false, text: `${user.name} has no key of Weir.` })
    return 200
  }
  const { id, hash } = JSON.parse(value)
  const outcome = await weir(`/${id}/${answer === 'allow' ? 'allow' : 'deny'}`, key, { hash })
  await slack(url, {
    replace_original: outcome.text !== undefined, // otherwise others still need the buttons
    text: `${user.name}: ${outcome.text ?? outcome.error?.message}`,
  })
  return 200
}

createServer(async (request, response) => {
  const status = await (request.url === '/weir'
    ? onWeir(request)
    : onSlack(request, response)
  ).catch((error: Error) => {
    console.error(error.message)
    return 500
  })
  if (!response.headersSent) response.writeHead(status).end()
}).listen(3000)
