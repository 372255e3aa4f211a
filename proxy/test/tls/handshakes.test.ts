import { expect } from "chai";
import type { ConnectionOptions, EphemeralKeyInfo, TLSSocket } from "node:tls";
import { eventually } from "../http/h1/harness.ts";
import { issueCertificate } from "./certificates.ts";
import { failureOf, describeHandshakes, startTls, stopTls, tlsPort } from "./harness.ts";

const a = issueCertificate(["a.example"]);
const b = issueCertificate(["b.example"]);
const wild = issueCertificate(["*.wild.example"]);
const fallback = issueCertificate(["fallback.example"]);

const subjectOf = (socket: TLSSocket): string => socket.getPeerX509Certificate()?.subject ?? "";

describeHandshakes("TLS handshakes", () => {
  afterEach(stopTls);

  describe("choice of the certificate", () => {
    const certificates = tlsPort(
      ["exact", "a.example", [a]],
      ["exact", "b.example", [b]],
      ["wildcard", "*.wild.example", [wild]],
    );
    const withDefault = tlsPort(["exact", "a.example", [a]], ["default", "*", [fallback]]);

    for (const [servername, subject] of [
      ["a.example", "CN=a.example"],
      ["A.Example", "CN=a.example"],
      ["b.example", "CN=b.example"],
      ["one.wild.example", "CN=*.wild.example"],
    ] as const) {
      it(`a client that asks for ${servername} gets the certificate of ${subject}`, async () => {
        const { connect, serve, results } = await startTls();
        serve(certificates);
        expect(subjectOf(await connect({ servername }))).to.equal(subject);
        await eventually(() => results.length > 0);
        expect(results).to.deep.equal([{ result: "ok", version: "TLSv1.3" }]);
      });
    }

    for (const servername of ["c.example", "two.labels.wild.example", "wild.example"]) {
      it(`a client that asks for ${servername}, which is not served, gets the alert unrecognized_name`, async () => {
        const { connect, serve, results } = await startTls();
        serve(certificates);
        for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
          expect(await failureOf(connect({ servername, maxVersion }))).to.equal(
            "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
          );
        }
        await eventually(() => results.length === 2);
        expect(results[0]).to.deep.equal({
          result: "fail",
          version: "unknown",
          reason: "unknown server name",
        });
      });
    }

    it("a client without a server name gets the alert unrecognized_name when there is no default certificate", async () => {
      const { connect, serve } = await startTls();
      serve(certificates);
      expect(await failureOf(connect())).to.equal("ERR_SSL_TLSV1_UNRECOGNIZED_NAME");
    });

    it("the default certificate is shown to clients without a server name and to names without an entry", async () => {
      const { connect, serve } = await startTls();
      serve(withDefault);
      expect(subjectOf(await connect())).to.equal("CN=fallback.example");
      expect(subjectOf(await connect({ servername: "other.example" }))).to.equal("CN=fallback.example");
      expect(subjectOf(await connect({ servername: "a.example" }))).to.equal("CN=a.example");
    });

    it("every handshake is refused before the first certificates", async () => {
      const { connect } = await startTls();
      expect(await failureOf(connect({ servername: "a.example" }))).to.equal(
        "ERR_SSL_TLSV1_UNRECOGNIZED_NAME",
      );
    });
  });

  it("new connections get renewed certificates, and open connections continue", async () => {
    const renewed = issueCertificate(["renewed.example"]);
    const { connect, serve, opened } = await startTls();
    serve(tlsPort(["exact", "a.example", [a]]));
    const old = await connect({ servername: "a.example" });
    serve(tlsPort(["exact", "a.example", [renewed]]));
    const young = await connect({ servername: "a.example" });
    expect(subjectOf(young)).to.equal("CN=renewed.example");
    old.write("still here");
    let text = "";
    old.on("data", (chunk: Buffer) => (text += chunk.toString()));
    await eventually(() => text === "a.example|still here");
    expect(opened[0]?.destroyed).to.equal(false);
  });

  describe("ECDSA and RSA for one host", () => {
    const authority = issueCertificate(["authority"], { ca: true });
    const rsa = issueCertificate(["both.example"], { type: "rsa", issuer: authority });
    const ec = issueCertificate(["both.example"], { type: "ec", issuer: authority });
    const keyTypeOf = (socket: TLSSocket): string | undefined =>
      socket.getPeerX509Certificate()?.publicKey.asymmetricKeyType;

    for (const order of [
      [ec, rsa],
      [rsa, ec],
    ]) {
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        it(`clients that support ECDSA get the ECDSA certificate with its chain (${order[0] === ec ? "ECDSA" : "RSA"} first, ${maxVersion})`, async () => {
          const { connect, serve } = await startTls();
          serve(tlsPort(["exact", "both.example", order]));
          const options = { servername: "both.example", maxVersion, ca: [authority.leafPem] };
          const verified = { ...options, rejectUnauthorized: true };
          expect(keyTypeOf(await connect(verified))).to.equal("ec");
          const rsaFirst = { ...verified, sigalgs: "rsa_pss_rsae_sha256:ecdsa_secp256r1_sha256" };
          expect(keyTypeOf(await connect(rsaFirst))).to.equal("ec");
          const onlyRsa = { ...verified, sigalgs: "rsa_pss_rsae_sha256:rsa_pkcs1_sha256" };
          expect(keyTypeOf(await connect(onlyRsa))).to.equal("rsa");
        });
      }
    }

    it("the intermediates of the shown certificate are sent", async () => {
      const middle = issueCertificate(["middle"], { ca: true, issuer: authority });
      const leaf = issueCertificate(["deep.example"], { type: "rsa", issuer: middle });
      const other = issueCertificate(["deep.example"], { type: "ec", issuer: authority });
      const { connect, serve } = await startTls();
      serve(tlsPort(["exact", "deep.example", [leaf, other]]));
      const socket = await connect({
        servername: "deep.example",
        ca: [authority.leafPem],
        rejectUnauthorized: true,
        sigalgs: "rsa_pss_rsae_sha256",
      });
      expect(socket.authorized).to.equal(true);
    });

    it("an Ed25519 certificate is served", async () => {
      const ed = issueCertificate(["ed.example"], { type: "ed25519" });
      const { connect, serve } = await startTls();
      serve(tlsPort(["exact", "ed.example", [ed]]));
      expect(keyTypeOf(await connect({ servername: "ed.example" }))).to.equal("ed25519");
    });
  });

  describe("protocol", () => {
    const startOne = async (settings = {}) => {
      const started = await startTls(settings);
      started.serve(tlsPort(["default", "*", [issueCertificate(["*"], { type: "rsa" })]]));
      return started;
    };

    it("TLS 1.2 and TLS 1.3 are negotiated", async () => {
      const { connect, results } = await startOne();
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        expect((await connect({ maxVersion })).getProtocol()).to.equal(maxVersion);
      }
      await eventually(() => results.length === 2);
      expect(results.map(({ version }) => version)).to.deep.equal(["TLSv1.2", "TLSv1.3"]);
    });

    it("versions older than TLS 1.2 are refused", async () => {
      const { connect, results } = await startOne();
      const failure = await failureOf(
        connect({ minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" }),
      );
      expect(failure).to.equal("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
      await eventually(() => results.length === 1);
      expect(results).to.deep.equal([{ result: "fail", version: "unknown", reason: "failed" }]);
    });

    it("TLS 1.2 is refused when the minimum version is 1.3", async () => {
      const { connect } = await startOne({ minVersion: "TLSv1.3" });
      expect(await failureOf(connect({ maxVersion: "TLSv1.2" }))).to.equal(
        "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
      );
    });

    for (const ciphers of ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-CHACHA20-POLY1305"]) {
      it(`the cipher suite ${ciphers} is negotiated`, async () => {
        const { connect } = await startOne();
        expect((await connect({ maxVersion: "TLSv1.2", ciphers })).getCipher().name).to.equal(ciphers);
      });
    }

    for (const ciphers of ["AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256", "DHE-RSA-AES128-GCM-SHA256"]) {
      it(`the cipher suite ${ciphers} is not negotiated`, async () => {
        const { connect } = await startOne();
        expect(await failureOf(connect({ maxVersion: "TLSv1.2", ciphers }))).to.match(
          /^ERR_SSL_S?S?L?.*HANDSHAKE_FAILURE$/,
        );
      });
    }

    it("keys are exchanged with ML-KEM where clients support it, and without where they do not", async () => {
      const { connect } = await startOne();
      const groupOf = async (options: ConnectionOptions): Promise<unknown> =>
        ((await connect(options)).getEphemeralKeyInfo() as EphemeralKeyInfo).name;
      expect(await groupOf({})).to.equal("X25519MLKEM768");
      expect(await groupOf({ ecdhCurve: "P-256:X25519MLKEM768" })).to.equal("X25519MLKEM768");
      expect(await groupOf({ ecdhCurve: "X25519" })).to.equal("X25519");
      expect(await groupOf({ ecdhCurve: "P-256" })).to.equal("prime256v1");
    });

    it("a client that prefers ChaCha20 gets it", async () => {
      const { connect } = await startOne();
      const ciphers = "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES128-GCM-SHA256";
      expect((await connect({ maxVersion: "TLSv1.2", ciphers })).getCipher().name).to.match(/CHACHA20/);
    });

    for (const [offered, chosen] of [
      [["h2", "http/1.1"], "h2"],
      [["http/1.1", "h2"], "h2"],
      [["http/1.1"], "http/1.1"],
      [undefined, false],
    ] as const) {
      it(`a client that offers the protocols ${offered?.join() ?? "none"} by ALPN gets ${chosen}`, async () => {
        const { connect } = await startOne();
        const socket = await connect(offered === undefined ? {} : { ALPNProtocols: [...offered] });
        expect(socket.alpnProtocol).to.equal(chosen);
      });
    }

    it("a client without a common ALPN protocol is refused", async () => {
      const { connect } = await startOne();
      expect(await failureOf(connect({ ALPNProtocols: ["spdy/3"] }))).to.equal(
        "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL",
      );
    });

    it("renegotiation is refused", async () => {
      const { connect } = await startOne();
      const socket = await connect({ maxVersion: "TLSv1.2" });
      socket.resume();
      const outcome = new Promise<string>((resolve) => {
        socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
        socket.renegotiate({ rejectUnauthorized: false }, (error) =>
          resolve(error === null ? "done" : "error"),
        );
      });
      expect(await outcome).to.equal("ERR_SSL_NO_RENEGOTIATION");
    });
  });
});
