// The addresses to which no name of a host list may lead: this machine, the link, and the metadata
// services of clouds. Private networks are allowed, because a list may name a host there.

import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { networkInterfaces } from 'node:os'

const forbidden = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const)
  forbidden.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127], // unspecified and loopback
  ['fe80::', 10],
  ['ff00::', 8],
  ['fd00:ec2::', 32],
  ['fd20:ce::', 32],
] as const)
  forbidden.addSubnet(net, bits, 'ipv6')

/** `address`: as DNS gave it. An address that cannot be read is forbidden. */
export function isForbiddenAddress(address: string): boolean {
  const [bare = ''] = address.split('%')
  const embedded = isIPv6(bare) ? embeddedIPv4(bare) : undefined
  if (embedded !== undefined && isForbiddenAddress(embedded)) return true
  if (!isIPv4(bare) && !isIPv6(bare)) return true
  return forbidden.check(bare, isIPv4(bare) ? 'ipv4' : 'ipv6') || ownAddresses().includes(bare)
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address }) => address),
  )
}

/** The IPv4 address in a mapped, compatible, translated (NAT64) or 6to4 address. */
function embeddedIPv4(address: string): string | undefined {
  const groups = groupsOf(address)
  const dotted = (high = 0, low = 0) => [high >> 8, high & 255, low >> 8, low & 255].join('.')
  const start = groups.slice(0, 6).join(':')
  if (['0:0:0:0:0:65535', '0:0:0:0:0:0', '0:0:0:0:65535:0', '100:65435:0:0:0:0'].includes(start))
    return dotted(groups[6], groups[7])
  return groups[0] === 0x2002 ? dotted(groups[1], groups[2]) : undefined
}

const zeros = [0, 0, 0, 0, 0, 0, 0, 0]

/** The eight groups of an IPv6 address. `URL` writes each address in one form. */
function groupsOf(address: string): number[] {
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = text.split('::')
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
  if (tail === undefined) return read(head)
  const [before, after] = [read(head), read(tail)]
  return [...before, ...zeros.slice(0, 8 - before.length - after.length), ...after]
}
