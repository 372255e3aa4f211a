/** Clients with certificates, and the authorities that issued them. */
import { issueCertificate, type Issued } from "../../../proxy/test/tls/certificates.ts";

const authority = issueCertificate(["authority"], { ca: true });
const between = issueCertificate(["between"], { ca: true, issuer: authority });
const lower = issueCertificate(["lower"], { ca: true, issuer: between });

/** `direct` is issued by the authority, `one` behind one intermediate authority, `two` behind two. */
const identities: Readonly<Record<string, Issued>> = {
  authority,
  direct: issueCertificate(["direct"], { issuer: authority }),
  one: issueCertificate(["one"], { issuer: between }),
  two: issueCertificate(["two"], { issuer: lower }),
  stranger: issueCertificate(["stranger"], { issuer: issueCertificate(["nobody"], { ca: true }) }),
};

/** The credentials of a client: its certificate with those that lead to the authority, and its key. */
export function identityOf(name: string): { readonly cert: string; readonly key: string } {
  const { leafPem, keyPem } = known(name);
  const chain = { one: [between], two: [lower, between] }[name] ?? [];
  return { cert: [leafPem, ...chain.map((one) => one.leafPem)].join(""), key: keyPem };
}

/** The certificate alone. */
export const pemOf = (name: string): string => known(name).leafPem;

function known(name: string): Issued {
  const found = identities[name];
  if (found === undefined) throw new Error(`no identity ${name}`);
  return found;
}
