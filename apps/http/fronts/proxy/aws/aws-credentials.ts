// The credentials of AWS of this process: those of the environment, or those that AWS's own command
// finds in its profiles, logins and roles.

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { limits } from '../../../../../shared/contract/limits.ts'
import type { Clock, Milliseconds } from '../../../../../shared/lib/clock.ts'
import { WeirError } from '../../../../../shared/lib/errors.ts'
import { boundedJson } from '../../../../../shared/lib/json/bounded-json.ts'
import { isObject } from '../../../../../shared/lib/json/json-object.ts'
import {
  harmlessEnvironment,
  ofSecretStores,
} from '../../../../../shared/lib/sandbox/harmless-variables.ts'
import { HttpError } from '../../../http-error.ts'

/** The command that prints credentials of AWS, and how long before their end the proxy renews them. */
const awsCommandMs = 30_000
const awsCommandBytesMax = 64 * 1024
export const awsCredentialsSpareMs = 5 * 60_000

export type AwsCredentials = {
  accessKeyId: string
  secretAccessKey: string
  sessionToken: string | undefined
}

/** Resolves to a reader of fresh credentials. Throws `settings.invalid` if there are none. */
export async function awsCredentials(clock: Clock): Promise<() => Promise<AwsCredentials>> {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env
  if (accessKeyId && secretAccessKey)
    return async () => ({ accessKeyId, secretAccessKey, sessionToken })
  const first = await exported()
  if (first === undefined) throw new WeirError('settings.invalid', noCredentials)
  let newest = first
  let next: Promise<Exported | undefined> | undefined
  return async () => {
    if (newest.expiresAt - clock.now() > awsCredentialsSpareMs) return newest
    next ??= exported()
    newest = (await next) ?? newest
    next = undefined
    if (newest.expiresAt > clock.now()) return newest
    throw new HttpError(502, 'proxy.credentials', noCredentials)
  }
}

const noCredentials =
  '--sign-aws finds no credentials of AWS: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or install the AWS CLI and log in (aws configure export-credentials must work)'

type Exported = AwsCredentials & { expiresAt: Milliseconds }

/** Undefined: there is no command, or it prints none. Its error could hold a part of its output. */
async function exported(): Promise<Exported | undefined> {
  const command = ['configure', 'export-credentials', '--format', 'process']
  const { stdout } = await promisify(execFile)('aws', command, {
    env: harmlessEnvironment(ofSecretStores),
    timeout: awsCommandMs,
    maxBuffer: awsCommandBytesMax,
  }).catch(() => ({ stdout: '' }))
  const found = boundedJson(stdout, limits.jsonDepthMax)
  const { AccessKeyId, SecretAccessKey, SessionToken, Expiration } = isObject(found) ? found : {}
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string') return undefined
  const expiresAt = Date.parse(`${Expiration}`)
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: typeof SessionToken === 'string' ? SessionToken : undefined,
    expiresAt: Number.isNaN(expiresAt) ? Number.POSITIVE_INFINITY : expiresAt,
  }
}
