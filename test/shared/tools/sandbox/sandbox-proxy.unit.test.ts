// The hosts that a list allows, and the addresses to which no name may lead.

import { describe, expect, it } from '@jest/globals'
import { bytesOfSize, hostPattern } from '../../../../shared/agents/sandbox.ts'
import { isForbiddenAddress } from '../../../../shared/tools/sandbox/forbidden-addresses.ts'
import { isListed, targetIn } from '../../../../shared/tools/sandbox/sandbox-proxy.ts'

function isAllowed(authority: string, ...list: string[]): boolean {
  const target = targetIn(authority)
  const patterns = list.map((text) => hostPattern(text) ?? { name: text, isSuffix: false, port: 1 })
  return target !== undefined && isListed(patterns, target)
}

describe('a list of hosts', () => {
  it.each<[string, string]>([
    ['api.example.com:443', 'api.example.com'],
    ['api.example.com:80', 'api.example.com'],
    ['API.Example.COM:443', 'api.example.com'],
    ['api.example.com.:443', 'api.example.com'],
    ['api.example.com:443', 'API.example.com'],
    ['api.example.com:8443', 'api.example.com:8443'],
    ['a.b.example.com:443', '*.example.com'],
    ['10.0.0.7:443', '10.0.0.7'],
    ['[::1]:8080', '[::1]:8080'],
    ['localhost:3000', 'localhost:3000'],
  ])('allows %s by %s', (authority, listed) => {
    expect(isAllowed(authority, listed)).toBe(true)
  })

  it.each<[string, string]>([
    ['evil.com:443', 'api.example.com'],
    ['api.example.com:22', 'api.example.com'],
    ['api.example.com:443', 'api.example.com:8443'],
    ['api.example.com.evil.com:443', 'api.example.com'],
    ['evilapi.example.com:443', 'api.example.com'],
    ['example.com:443', '*.example.com'],
    ['evilexample.com:443', '*.example.com'],
    ['93.184.215.14:443', 'example.com'],
    ['10.0.0.8:443', '10.0.0.7'],
    ['1.example.com%00.evil.com:443', '*.example.com'],
    ['user@api.example.com:443', 'api.example.com'],
    ['api.example.com:443@evil.com:443', 'api.example.com'],
    ['api.example.com:0443x', 'api.example.com'],
    ['api.example.com:0', 'api.example.com'],
    ['api.example.com:65979', 'api.example.com'],
    ['api.example.com', 'api.example.com'],
    ['::ffff:10.0.0.7%x.example.com:443', '*.example.com'],
    ['[::ffff:a00:7]:443', '10.0.0.7'],
    ['api.example.com/x:443', 'api.example.com'],
    ['api.example.com\r\nhost:443', 'api.example.com'],
    ['api.exаmple.com:443', 'api.example.com'],
    ['', 'api.example.com'],
  ])('refuses %j, although it has %s', (authority, listed) => {
    expect(isAllowed(authority, listed)).toBe(false)
  })

  it.each([
    '',
    '*',
    '*.',
    'https://a',
    'a/b',
    'a b',
    'a:0',
    'a:70000',
    'a..b',
    'a@b',
    '*.*.a',
    'ä.de',
    '.a',
  ])('cannot have the host %j', (text) => {
    expect(hostPattern(text)).toBe(undefined)
  })
})

describe('the address of a listed name', () => {
  it.each([
    ...['127.0.0.1', '127.8.9.1', '0.0.0.0', '169.254.169.254', '224.0.0.1', '255.255.255.255'],
    ...['100.100.100.200', '168.63.129.16', '::1', '::', 'fe80::1', 'fe80::1%eth0', 'ff02::1'],
    ...[
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      '::127.0.0.1',
      '64:ff9b::7f00:1',
      '64:ff9b::a9fe:a9fe',
    ],
    ...['2002:7f00:1::', '::ffff:0:7f00:1', 'fd00:ec2::254', 'no address', ''],
  ])('must not be %j', (address) => {
    expect(isForbiddenAddress(address)).toBe(true)
  })

  it.each(['93.184.215.14', '10.0.0.7', '192.168.1.5', '2606:2800:21f:cb07:6820:80da:af6b:8b2c'])(
    'may be %s',
    (address) => {
      expect(isForbiddenAddress(address)).toBe(false)
    },
  )
})

describe('a size', () => {
  it.each<[string | number, number | undefined]>([
    ['512MiB', 512 * 2 ** 20],
    ['1GiB', 2 ** 30],
    ['2048KiB', 2 ** 21],
    ['1048576B', 2 ** 20],
    [1048576, 2 ** 20],
    ['1048575B', undefined],
    ['512MB', undefined],
    ['512', undefined],
    ['-1GiB', undefined],
    ['1.5GiB', undefined],
    [Number.NaN, undefined],
    ['999999999999GiB', undefined],
  ])('of %j has %s bytes', (size, bytes) => {
    expect(bytesOfSize(size)).toBe(bytes)
  })
})
