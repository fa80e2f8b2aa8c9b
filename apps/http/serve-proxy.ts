// `weir proxy`: the model proxy with its own log and stages, until SIGTERM or SIGINT. On Kafka the
// stages run elsewhere.

import type { Writable } from 'node:stream'
import { openFronts } from '../../client/guard/log/fronts.ts'
import { secretsOfEnvironment } from '../../shared/agents/secrets.ts'
import { usageError } from '../../shared/lib/errors.ts'
import { createLog } from '../../shared/lib/log/log.ts'
import type { SettingFlags } from '../terminal/command-settings.ts'
import { portOf } from '../terminal/port-flag.ts'
import { printable } from '../terminal/text/printable.ts'
import { refuseOpenAddress } from './front-address.ts'
import { startFrontServer } from './front-server.ts'
import { type RequestSigner, signerForAws } from './fronts/proxy/aws/aws-signer.ts'
import { isBedrock } from './fronts/proxy/aws/signed-requests.ts'
import type { VetoOptions } from './fronts/proxy/veto/veto.ts'
import { frontsPlaceOf } from './fronts-place.ts'
import { servedToTheEnd, untilStopped } from './until-stopped.ts'

export type ProxyCommandOptions = SettingFlags & {
  upstream: string
  host: string
  port: string
  agent: string
  json?: boolean
  allowRemote?: boolean
  veto?: boolean
  vetoOauth?: boolean
  signAws?: string
  signAwsHost?: string
}

/** `weir proxy --json` prints it as its first line. */
export type ProxyAddress = { port: number; anthropicBaseUrl: string; openaiBaseUrl: string }

/** Resolves to the exit code. Throws before it starts: `usage`, `settings.invalid`, `agent.invalid`. */
export async function serveProxy(options: ProxyCommandOptions, out: Writable): Promise<0 | 1> {
  refuseOpenAddress(options.host, { flag: '--host', allowRemote: options.allowRemote })
  const veto = vetoOf(options)
  const sign = await signerOf(options)
  const { kind, settings } = frontsPlaceOf(options)
  const secrets = secretsOfEnvironment(process.env)
  const log = createLog({ level: settings.logLevel, secrets })
  const fronts = await openFronts({ kind, settings }, { secrets, log })
  try {
    const server = await startFrontServer({
      fronts,
      host: options.host,
      port: portOf(options.port),
      agent: options.agent,
      upstream: options.upstream,
      sign,
      veto,
      log,
    })
    const until = untilStopped(fronts.failed, log)
    const address: ProxyAddress = {
      port: server.port,
      anthropicBaseUrl: server.url,
      openaiBaseUrl: `${server.url}/v1`,
    }
    out.write(options.json ? `${JSON.stringify(address)}\n` : textOf(address, options))
    return await servedToTheEnd(until, server)
  } finally {
    await fronts.close()
  }
}

/** `--veto-oauth` alone would leave all other clients without a veto. */
function vetoOf({ veto = false, vetoOauth = false }: ProxyCommandOptions): VetoOptions | undefined {
  if (vetoOauth && !veto) throw usageError('--veto-oauth needs --veto: give both')
  return veto ? { coversSubscriptions: vetoOauth } : undefined
}

/** Other machines would use the account of this process, and another server would get its session token. */
async function signerOf({
  signAws,
  signAwsHost,
  allowRemote,
  upstream,
}: ProxyCommandOptions): Promise<RequestSigner | undefined> {
  if (signAws === undefined) {
    if (signAwsHost !== undefined) throw usageError('--sign-aws-host needs --sign-aws: give both')
    return undefined
  }
  if (allowRemote)
    throw usageError(
      '--sign-aws lets each client use the AWS account of this process, and the server asks for no key: leave --allow-remote out',
    )
  if (!/^[a-z]{2,4}(-[a-z]+)+-\d$/.test(signAws))
    throw usageError(`--sign-aws is ${JSON.stringify(signAws)}: give a region, such as us-east-1`)
  const hostname = URL.parse(upstream)?.hostname ?? upstream
  if (!isBedrock(hostname) && hostname !== signAwsHost?.toLowerCase())
    throw usageError(
      `--sign-aws signs for hosts of Bedrock, and --upstream has ${JSON.stringify(hostname)}: name a host such as bedrock-runtime.${signAws}.amazonaws.com, or confirm yours with --sign-aws-host ${printable(hostname)}`,
    )
  return signerForAws(signAws)
}

function textOf(
  { anthropicBaseUrl, openaiBaseUrl }: ProxyAddress,
  { upstream }: ProxyCommandOptions,
): string {
  return `The proxy guards agents and sends their requests to ${printable(upstream)}. Ctrl-C ends it.

Point an agent at it:
  ANTHROPIC_BASE_URL=${anthropicBaseUrl}
  OPENAI_BASE_URL=${openaiBaseUrl}
`
}
