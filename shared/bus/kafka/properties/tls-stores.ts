// ssl.truststore.* and ssl.keystore.* of a client.properties, converted from PEM for Node's TLS.
// Each store is a file or the property itself. No error message contains any part of a store.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readText } from '../../../settings/text-file.ts'

/** Bytes of a file of certificates and keys. A system's list of authorities has 200 KiB. */
const certificateFileBytesMax = 1024 * 1024

/**
 * How a client.properties configures a store: `texts` for PEM in properties, `location` for a file.
 */
export type Store = {
  type: string | undefined
  location: string | undefined
  texts: string | undefined
}

/** `fault` completes a sentence that starts with the name of `property`. */
type Faulty = { fault: string; property: 'type' | 'location' | 'texts' }

export type Identity = { cert: string; key: string; passphrase: string | undefined }

const certificateLabels = ['CERTIFICATE']
const keyLabels = ['PRIVATE KEY', 'ENCRYPTED PRIVATE KEY', 'RSA PRIVATE KEY', 'EC PRIVATE KEY']
const toPem =
  'convert it once: keytool -importkeystore -srckeystore STORE -destkeystore store.p12 -deststoretype PKCS12, openssl pkcs12 -in store.p12 -out store.pem'

/** The certificate authorities that the client trusts. */
export function trustedCertificates(store: Store): { ca: string } | Faulty {
  const content = pemOf(store)
  if ('fault' in content) return content
  const blocks = blocksOf(content.text, certificateLabels)
  if (blocks.length === 0)
    return { fault: 'has no certificate (-----BEGIN CERTIFICATE-----)', property: content.property }
  const broken = brokenCertificate(blocks)
  return broken === undefined
    ? { ca: blocks.join('\n') }
    : { fault: broken, property: content.property }
}

/**
 * The identity of this client (mTLS): its certificate, the chain after it, and its private key.
 */
export function clientIdentity(store: Store, passphrase: string | undefined): Identity | Faulty {
  const content = pemOf(store)
  if ('fault' in content) return content
  const { text, property } = content
  const certificates = blocksOf(text, certificateLabels)
  const [key, second] = blocksOf(text, keyLabels)
  const [certificate] = certificates
  if (certificate === undefined)
    return { fault: 'has no certificate (-----BEGIN CERTIFICATE-----)', property }
  if (key === undefined)
    return { fault: 'has no private key (-----BEGIN PRIVATE KEY-----)', property }
  if (second !== undefined)
    return { fault: 'has two private keys; keep the one that matches its certificate', property }
  const broken = brokenCertificate(certificates) ?? brokenKey(certificate, key, passphrase)
  return broken === undefined
    ? { cert: certificates.join('\n'), key, passphrase }
    : { fault: broken, property }
}

function pemOf({
  type,
  location,
  texts,
}: Store): { text: string; property: 'location' | 'texts' } | Faulty {
  if (type !== undefined && type.toUpperCase() !== 'PEM')
    return { fault: `is ${type}, but Weir reads only PEM; ${toPem}`, property: 'type' }
  if (texts !== undefined) return { text: texts, property: 'texts' }
  const content = readText(location ?? '', certificateFileBytesMax)
  if ('text' in content) return { text: content.text, property: 'location' }
  const isBinary = content.fault.includes('UTF-8')
  return {
    fault: isBinary ? `${location} is not a PEM file; ${toPem}` : `${location} ${content.fault}`,
    property: 'location',
  }
}

/** In a property, the line ends of a block may be blanks or missing. */
function blocksOf(text: string, labels: string[]): string[] {
  return [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----/gs)]
    .filter(([, label]) => labels.includes(label as string))
    .map(([whole, label, body = '']) => {
      if (!/^[A-Za-z0-9+/=\s]*$/.test(body)) return whole // an old key with headers
      const lines = body.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? [] // an empty last line would be invalid
      return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
    })
}

function brokenCertificate(blocks: string[]): string | undefined {
  for (const [index, block] of blocks.entries())
    try {
      new X509Certificate(block)
    } catch {
      return `has a certificate that cannot be read (number ${index + 1})`
    }
  return undefined
}

function brokenKey(
  certificate: string,
  pem: string,
  passphrase: string | undefined,
): string | undefined {
  const isEncrypted = pem.includes('ENCRYPTED')
  if (isEncrypted && passphrase === undefined)
    return 'has an encrypted private key; set ssl.key.password'
  try {
    const key = createPrivateKey(passphrase === undefined ? pem : { key: pem, passphrase })
    return new X509Certificate(certificate).checkPrivateKey(key)
      ? undefined
      : 'has a private key that does not match its first certificate'
  } catch {
    return isEncrypted
      ? 'has a private key that ssl.key.password does not open'
      : 'has a private key that cannot be read'
  }
}
