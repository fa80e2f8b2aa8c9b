// Detects words that name a secret, by the usual names of secrets in any place. Reading is refused
// as well as writing. Every word of a command is checked, because paths also occur inside words:
// `--key=~/.ssh/id`, `@.env`, `host:.ssh/x`, `open('.env')`. Weir's own data folder counts too.

import { isPlain, list, resolved } from './field.ts'

/** Names of folders in which everything is secret, and ends of paths of such folders. */
const folders = list('.ssh .gnupg .aws .azure .kube .password-store .oci .weir')
const folderPaths =
  /\/(\.config\/(gcloud|gh|doctl)|\.local\/share\/keyrings|\.docker\/config\.json|\.cargo\/credentials)\//
const files =
  list(`.netrc .pgpass .my.cnf .git-credentials .vault-token .env .envrc .htpasswd .s3cfg
  .boto .pypirc id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk shadow- gshadow-
  application_default_credentials.json kubeconfig master.key credentials.toml
  weir.db weir.db-wal weir.db-shm weir.db-lock weir.db-owner`)
const absolute = list(`/etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/ssl/private
  /etc/krb5.keytab /etc/kubernetes/pki /run/secrets /var/run/secrets /proc/kcore /dev/mem
  /root/.bash_history`)
/** Addresses at which a cloud hands out a machine's credentials. */
const metadata = list(`169.254.169.254 169.254.170.2 metadata.google.internal fd00:ec2::254
  100.100.100.200`)

const otherEnvironment = /^\.env\.(?!(example|sample|template|dist|defaults?|schema)$)/
const key =
  /\.(key|p12|pfx|jks|keystore|kdbx|ppk|agekey)$|^ssh_host_.*_key$|^service[-_]?account.*\.json$/
const pem = /\.pem$/
const publicPem = /(^|[-_.])(ca|cacert|cert|certs|chain|fullchain|pub|public|bundle|root)([-_.]|$)/
/** In a home only: a project's file of that name has settings. */
const ofHome = /^\/(root|home\/[^/]+)\/\.(npmrc|\w+_history)$/
/** Also of the parent: its environment, memory and open files. */
const processes =
  /^\/(dev|proc)\/(.*\/)?\.\.(\/|$)|^\/dev\/(fd\/[^/]+|std\w+)\/|^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd|task)(\/|$)/

/**
 * The secret that a word names, as a message may show it. Undefined: none. `from`: possible folders
 * of a relative path.
 */
export function secretIn(field: string, from: readonly string[] | undefined): string | undefined {
  for (const host of metadata)
    if (field.includes(host)) return `the credentials that a cloud hands out at ${host}`
  // The word itself, and its parts between the characters after which a path may begin.
  for (const piece of new Set([field, ...field.split(/[=:@,;\s'"`()<>|]/)])) {
    const secret = secretPath(piece) ?? secretPlace(piece, from)
    if (secret !== undefined) return secret
  }
  return undefined
}

function secretPath(path: string): string | undefined {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  const name = parts.at(-1) ?? ''
  const folder = folders.find((one) => parts.some((part) => mayBe(part, one)))
  if (folder !== undefined) return `what lies in ${folder}`
  const [, found] = folderPaths.exec(`/${parts.join('/')}/`) ?? []
  if (found !== undefined) return `what lies in ${found}`
  const file = files.find((one) => mayBe(name, one))
  if (file !== undefined) return file
  if (otherEnvironment.test(name)) return name
  const isKey = key.test(name) || (pem.test(name) && !publicPem.test(name))
  return isKey && !name.endsWith('.pub') ? `${name}, which looks like a private key` : undefined
}

function secretPlace(path: string, from: readonly string[] | undefined): string | undefined {
  for (const folder of path.startsWith('/') ? ['/'] : (from ?? [])) {
    const written = path.startsWith('/') ? path : `${folder}/${path}`
    if (processes.test(written.replace(/\/+(\.?\/+)*/g, '/'))) return path
    const full = resolved(path, folder)
    if (full === undefined) continue
    const place = absolute.find((one) => full.startsWith(`${one}/`) || isSamePath(full, one))
    if (place !== undefined) return place
    if (processes.test(full) || ofHome.test(full)) return full
  }
  return undefined
}

function isSamePath(path: string, secret: string): boolean {
  const expected = secret.split('/')
  const parts = path.split('/')
  const isEqual = (part: string, i: number) => mayBe(part, expected[i] ?? '')
  return parts.length === expected.length && parts.every(isEqual)
}

/** In doubt yes. A name that begins with `*` is frequent and may be anything. */
function mayBe(part: string, secret: string): boolean {
  if (isPlain(part)) return part === secret
  const [before = '', ...others] = part.split(/[\uE000\uE001]+/)
  const letters = before.length + others.join('').length
  const isLong = before !== '' && letters >= (secret.startsWith('.') ? 1 : 2)
  return isLong && secret.startsWith(before) && secret.endsWith(others.at(-1) ?? '')
}
