// Certificates for tests of TLS: an authority, and the certificates that it signs. Written as DER by
// hand, so the tests need no openssl.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export type Pair = { certificate: string; key: string; privateKey: KeyObject }

/**
 * All in PEM. `hosts`: names and IPv4 addresses that the broker's certificate is for; `elsewhere`
 * is for another one.
 */
export type Certificates = { authority: string; broker: Pair; elsewhere: Pair; client: Pair }

export function makeCertificates(hosts: string[]): Certificates {
  const authority = newIdentity('weir test authority', { extensions: [isAuthority] })
  const signed = (name: string, names: string[]) =>
    newIdentity(name, {
      issuer: authority,
      extensions: names.length === 0 ? [] : [alternativeNames(names)],
    })
  return {
    authority: authority.certificate,
    broker: signed('broker', hosts),
    elsewhere: signed('elsewhere', ['elsewhere.example']),
    client: signed('client', []),
  }
}

type Identity = Pair & { name: Buffer }

/**
 * A certificate of X.509 (RFC 5280), valid for a day around now. Without an issuer it is
 * self-signed.
 */
function newIdentity(
  commonName: string,
  { issuer, extensions }: { issuer?: Identity; extensions: Buffer[] },
): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(commonName)))))
  const algorithm = sequence(objectId('2a8648ce3d040302')) // ECDSA with SHA-256
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    integer(randomBytes(8)),
    algorithm,
    issuer?.name ?? name,
    sequence(time(-12), time(12)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  )
  const signature = sign('sha256', toBeSigned, issuer?.privateKey ?? privateKey)
  const certificate = sequence(toBeSigned, algorithm, bitString(signature))
  const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  return { certificate: pem('CERTIFICATE', certificate), key, privateKey, name }
}

const isAuthority = sequence(
  objectId('551d13'),
  der(0x01, Buffer.from([0xff])),
  der(0x04, sequence(der(0x01, Buffer.from([0xff])))),
)

function alternativeNames(hosts: string[]): Buffer {
  const names = hosts.map((host) =>
    isIP(host) === 4
      ? der(0x87, Buffer.from(host.split('.').map(Number)))
      : der(0x82, Buffer.from(host)),
  )
  return sequence(objectId('551d11'), der(0x04, sequence(...names)))
}

function sequence(...parts: Buffer[]): Buffer {
  return der(0x30, ...parts)
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

/**
 * A positive integer in its shortest form. DER allows a first byte of 0 only before a leading one
 * bit.
 */
export function integer(bytes: Buffer): Buffer {
  const padded = Buffer.concat([Buffer.from([0]), bytes])
  let from = 0
  while (from < bytes.length && padded[from] === 0 && (padded[from + 1] ?? 0) < 0x80) from += 1
  return der(0x02, padded.subarray(from))
}

function bitString(bytes: Buffer): Buffer {
  return der(0x03, Buffer.from([0]), bytes)
}

function time(hoursFromNow: number): Buffer {
  const text = new Date(Date.now() + hoursFromNow * 3_600_000)
    .toISOString()
    .replaceAll(/[-:T]|\..*/g, '')
  return der(0x17, Buffer.from(`${text.slice(2)}Z`))
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function pem(label: string, bytes: Buffer): string {
  return `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`
}
