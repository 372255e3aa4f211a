import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { textOf } from "@svc-gateway/common/values/errors.ts";
import { expectAnswers } from "../ask.ts";
import { defaultCertificate, startBackends, type CaseBackends } from "../backends.ts";
import { readCorpus, type CorpusCase } from "../cases.ts";
import { nginxConfig } from "./config.ts";
import { hasNginx, withNginx } from "./process.ts";
import type { ServerFiles } from "./server-files.ts";
import { canShow, sitesOf } from "./sites.ts";

type Shown = { readonly one: CorpusCase; readonly backends: CaseBackends };

/** The certificates and lists of users, by the name of their file. */
const secretFiles = (shown: readonly Shown[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    shown.flatMap(({ one, backends }) =>
      [...backends.secrets].map(([name, data]) => [`${one.name}.${name}`, fileOf(data)]),
    ),
  );

/** The file for a Secret: a certificate with its key, authorities, or users. The names of users can be its keys. */
function fileOf(data: Readonly<Record<string, string>>): string {
  if (data["tls.crt"] !== undefined) return `${data["tls.crt"]}${data["tls.key"]}`;
  const users = Object.entries(data).map(([name, hash]) => `${name}:${hash}\n`);
  return data["ca.crt"] ?? data["auth"] ?? users.join("");
}

function filesOf(
  shown: readonly Shown[],
  folder: string,
): Pick<ServerFiles, "addressOf" | "certificateOf" | "usersOf" | "authorityOf"> {
  const certificates = new Map<string, string>();
  for (const { one } of shown) {
    for (const { secretName = defaultCertificate, hosts } of one.objects.flatMap(
      ({ spec }) => spec?.tls ?? [],
    )) {
      for (const host of hosts) certificates.set(host, join(folder, `${one.name}.${secretName}`));
    }
  }
  const ports = new Map(shown.map(({ one, backends }) => [one.name, backends.ports]));
  return {
    addressOf: (namespace, service) => `127.0.0.1:${ports.get(namespace)?.get(service) ?? 1}`,
    certificateOf: (host) => certificates.get(host),
    usersOf: (namespace, secret) => join(folder, `${namespace}.${secret}`),
    authorityOf: (namespace, secret) => join(folder, `${namespace}.${secret}`),
  };
}

const page = new URL("../../../../docs/ingress-nginx.md", import.meta.url);

describe("nginx, configured as ingress-nginx configures it", () => {
  it("the page says how many Ingresses of charts nginx shows", () => {
    const corpus = readCorpus();
    const text = readFileSync(page, "utf8");
    expect(text).to.include(`nginx shows ${corpus.filter(canShow).length} of the ${corpus.length}`);
  });

  it("nginx answers the requests of the corpus as the corpus expects, as far as it can without Lua", async function () {
    if (!hasNginx()) return void this.skip();
    const shown = await Promise.all(
      readCorpus()
        .filter(canShow)
        .map(async (one) => ({ one, backends: await startBackends(one) })),
    );
    const sites = shown.flatMap(({ one }) => sitesOf(one));
    try {
      await withNginx(
        (folder, ports) => nginxConfig(sites, { ...filesOf(shown, folder), ...ports, folder }),
        async (ports) => {
          const failures: string[] = [];
          for (const { one } of shown) {
            for (const wanted of one.requests.filter(({ needsLua }) => needsLua !== true)) {
              const { nginxStatus: status } = wanted;
              const shownBy = status === undefined ? wanted : { request: wanted.request, status };
              await expectAnswers(ports, shownBy).catch((error: unknown) => {
                failures.push(`${one.name}: ${textOf(error)}`);
              });
            }
          }
          if (failures.length > 0) throw new Error(failures.join("\n"));
        },
        secretFiles(shown),
      );
    } finally {
      await Promise.all(shown.map(({ backends }) => backends.close()));
    }
  });
});
