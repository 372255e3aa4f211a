import { expect } from "chai";
import { formatRef } from "../../src/api/object.ts";
import { translate } from "../../src/translate/translate.ts";
import { caseNames, readCase } from "./golden.ts";

/** Warnings that are Events as well, as something is not served as it was meant. */
const reportedWarnings = new Set([
  "CertificateHostMismatch",
  "LastCertificateKept",
  "MirrorDisabled",
  "PathLevelConflict",
  "RegexShadowed",
]);

describe("Events of findings", () => {
  it("every error about an Ingress, and every warning about something without effect, is an Event of it", () => {
    const reasons = new Set<string>();
    for (const name of caseNames()) {
      const { world, settings } = readCase(name);
      const { diagnostics, events } = translate(world, settings);
      for (const { object, severity, reason, message, field = "" } of diagnostics) {
        if (object.kind !== "Ingress" || !(severity === "error" || reportedWarnings.has(reason))) continue;
        const reported = events.filter((event) => formatRef(event.object) === formatRef(object));
        // One Event names all annotations of other controllers.
        const text = reason === "ForeignAnnotation" ? field.split(/[[\]]/)[1] : message.slice(0, 200);
        const found = reported.find((event) => event.message.includes(text ?? message));
        expect(found, `${name}: ${formatRef(object)} ${reason} ${message}`).to.not.equal(undefined);
        expect(found?.type).to.equal("Warning");
        reasons.add(`${reason} ${found?.reason}`);
      }
    }
    expect([...reasons]).to.include.members([
      "CertificateConflict HostTaken",
      "ForeignAnnotation ForeignAnnotation",
      "InvalidCertificate CertificateNotUsable",
      "InvalidHost NotServed",
      "MirrorDisabled MirrorDisabled",
      "SecretNotFound CertificateNotUsable",
      "ServiceNotFound BackendNotFound",
      "ServicePortNotFound BackendNotFound",
    ]);
  });

  it("a reference that is not permitted is an InvalidAnnotation and a ReferenceNotPermitted Event", () => {
    const { world, settings } = readCase("ingress-with-auth-basic-secret-invalid-grant");
    const reasons = translate(world, settings).events.map(({ reason }) => reason);
    expect(reasons).to.include.members(["InvalidAnnotation", "ReferenceNotPermitted"]);
  });

  it("a Service port without endpoints is one Event of the Ingress for all of its paths", () => {
    const { world, settings } = readCase("ingress-with-endpoints-invalid-none");
    const { events } = translate(world, settings);
    const reported = events.filter(({ reason }) => reason === "BackendNotFound");
    expect(reported).to.not.have.lengthOf(0);
    expect(new Set(reported.map((event) => JSON.stringify(event))).size).to.equal(reported.length);
    for (const { object, message } of reported) {
      expect(object.kind).to.equal("Ingress");
      expect(message).to.match(
        /^Port \d+ of Service \S+ has no usable endpoint; requests to it are answered 503$/,
      );
    }
  });

  it("Events keep their identity while their findings do not change", () => {
    const { world, settings } = readCase("ingress-with-service-invalid-missing");
    const before = translate(world, settings).events;
    const after = translate({ ...world, Namespace: [] }, settings).events;
    expect(before).to.not.have.lengthOf(0);
    expect(after[0]).to.equal(before[0]);
  });
});
