// Requests with a signature of AWS (SigV4). The signature covers the address that the client used, which
// is the proxy's, so AWS refuses it.

import type { IncomingHttpHeaders } from 'node:http'
import { HttpError } from '../../../http-error.ts'

/** The id of the key that signed. Undefined: the header has no signature. */
export function signerOf(authorization: string | undefined): string | undefined {
  return /^aws4-\S+\s+credential=([^/,\s]+)/i.exec(authorization ?? '')?.[1]
}

/** Also an endpoint of a VPC or of FIPS. Other names below AWS can belong to customers. */
export function isBedrock(hostname: string): boolean {
  return /(?:^|\.)bedrock(?:-[a-z]+)*\.[a-z]+(?:-[a-z]+)+-\d+\.(?:vpce\.)?(?:amazonaws\.(?:com(?:\.cn)?|eu)|api\.aws|api\.amazonwebservices\.(?:com\.cn|eu))$/i.test(
    hostname,
  )
}

/** Throws 400 for a signed request to Bedrock. Other servers may accept one. `url`: of the upstream. */
export function refuseSigned({ authorization }: IncomingHttpHeaders, url: string): void {
  const { hostname } = new URL(url)
  if (!isBedrock(hostname) || signerOf(authorization) === undefined) return
  throw new HttpError(
    400,
    'proxy.signature',
    `the signature of this request covers the address of Weir, so ${hostname} would refuse it: start the proxy with --sign-aws and your region, or use an API key of Bedrock (AWS_BEARER_TOKEN_BEDROCK)`,
  )
}
