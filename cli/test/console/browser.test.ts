import { expect } from "chai";
import { existsSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";
import { pageNames } from "../../src/console/layout.ts";
import { faintTexts } from "./faint-texts.ts";
import { buildOf, shop, sourceOf, startTestConsole, token, type TestConsole } from "./support.ts";

/** Debian's package `chromium`. */
const executablePath = "/usr/bin/chromium";

describe("the console in a browser", () => {
  let browser: Browser | undefined;
  let served: TestConsole;
  /** A page with a session, for all tests. */
  let page: Page;
  /** The errors that pages, their content security policy and the browser report. */
  let complaints: string[] = [];

  const open = async (cookie: string): Promise<Page> => {
    const context = await (browser as Browser).newContext({ viewport: { width: 1280, height: 800 } });
    // The time limit of the test counts.
    context.setDefaultTimeout(0);
    const [name = "", value = ""] = cookie.split("=");
    if (cookie !== "") await context.addCookies([{ name, value, url: served.url }]);
    const opened = await context.newPage();
    opened.on("console", (message) => complaints.push(message.text()));
    opened.on("pageerror", (error) => complaints.push(error.message));
    return opened;
  };

  before(async function () {
    // Where it is missing, the pages are tested as text only (console-app.test.ts).
    if (!existsSync(executablePath)) return this.skip();
    // The time limit of the hook counts.
    const args = ["--no-sandbox", "--disable-gpu"];
    browser = await chromium.launch({ executablePath, args, timeout: 0 });
    served = await startTestConsole(sourceOf(await buildOf(shop())));
    page = await open(served.cookie);
  });
  beforeEach(() => void (complaints = []));
  after(async () => {
    if (browser === undefined) return;
    await browser.close();
    await served.close();
  });

  it("a person signs in and moves between pages with the keyboard alone", async () => {
    const own = await open("");
    await own.goto(`${served.url}/sign-in`);
    await own.waitForSelector('input[name="token"]:focus');
    await own.keyboard.type(token);
    await own.keyboard.press("Enter");
    await own.waitForSelector("nav");
    // With the style sheet, which has the outline.
    await own.waitForLoadState();
    const stops: unknown[] = [];
    for (let step = 0; step < 2 + Object.keys(pageNames).length; step++) {
      await own.keyboard.press("Tab");
      stops.push(await own.evaluate("document.activeElement?.getAttribute('href')"));
    }
    expect(stops).to.deep.equal(["#main", "/", ...Object.keys(pageNames)]);
    expect(await own.evaluate("getComputedStyle(document.activeElement).outlineStyle")).to.equal("solid");
    await own.keyboard.press("Enter");
    await own.waitForSelector('nav a[aria-current="page"][href="/explain"]');
    expect(complaints).to.deep.equal([]);
    await own.close();
  });

  for (const [path, title] of Object.entries(pageNames)) {
    it(`the page ${title} can be read in both themes, fits a narrow screen and keeps to its policy`, async () => {
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(served.url + path);
      expect(await page.textContent("h1")).to.equal(title);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        expect(await page.evaluate(faintTexts), colorScheme).to.deep.equal([]);
      }
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).to.equal(360);
      expect(complaints).to.deep.equal([]);
    });
  }

  it("a request that is typed in is explained, and markup in it stays text", async () => {
    await page.goto(`${served.url}/explain`);
    await page.fill('input[name="url"]', "javascript:<script>alert(1)</script>");
    await page.fill("textarea", "X-Evil: <img src=x onerror=alert(1)>");
    // The next stop of the keyboard is the button.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.waitForSelector('[role="alert"]');
    expect(await page.inputValue("textarea")).to.equal("X-Evil: <img src=x onerror=alert(1)>");
    await page.fill('input[name="url"]', "http://shop.example.com/cart");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#answer");
    expect(await page.textContent("#answer"))
      .to.include("max-body-size")
      .and.include("10.0.0.1:8000");
    expect(await page.$("img, script")).to.equal(null);
    expect(complaints).to.deep.equal([]);
  });
});
