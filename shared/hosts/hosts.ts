// The hosts with a profile, by their names, their requests and their texts.

import type { IncomingHttpHeaders } from 'node:http'
import type { HostProfile } from './host-profile.ts'
import { hostProfiles } from './profiles.ts'

const byName = new Map<string | undefined, HostProfile>(
  hostProfiles.map((host) => [host.name, host]),
)

/** Undefined: no host with a profile has this name. */
export function hostNamed(name: string | undefined): HostProfile | undefined {
  return byName.get(name)
}

/** Its name for people. */
export function hostTitle(name: string): string {
  return byName.get(name)?.title ?? name
}

/** Whether a host wrote this text of a user. `name` undefined: any that no header shows. */
export function isHostText(name: string | undefined, text: string): boolean {
  return hostProfiles.some(
    ({ name: own, requests, writesAsUser = [] }) =>
      (name === own || (name === undefined && requests.userAgent === undefined)) &&
      writesAsUser.some((pattern) => pattern.test(text)),
  )
}

/** The host that sends a request with these headers. Undefined: none with a profile. */
export function hostOfRequest(headers: IncomingHttpHeaders): HostProfile | undefined {
  const known = byHeaders.get(headers)
  if (known !== undefined) return known.host
  const userAgent = headers['user-agent'] ?? ''
  const host = hostProfiles.find(
    ({ requests }) =>
      requests.headers.some((name) => headers[name] !== undefined) ||
      requests.userAgent?.test(userAgent) === true,
  )
  byHeaders.set(headers, { host })
  return host
}

/** A front asks several times for the host of a request. */
const byHeaders = new WeakMap<IncomingHttpHeaders, { host: HostProfile | undefined }>()
