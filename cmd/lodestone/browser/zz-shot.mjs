import { chromium } from 'playwright-core';
const [,, once, ...paths] = process.argv;
const b = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--headless','--no-sandbox','--disable-gpu'] });
const site = new URL(once).origin;
const ctx = await b.newContext({ viewport: { width: 1440, height: 900 } });
const p = await ctx.newPage();
p.on('console', m => console.log('console', m.type(), m.text().slice(0,200)));
await p.goto(once); 
console.log('at', p.url(), await p.title());
console.log('at', p.url(), await p.title());
const state = await ctx.storageState();
for (const [name, opts] of [['d-light',{viewport:{width:1440,height:900},colorScheme:'light'}],['d-dark',{viewport:{width:1440,height:900},colorScheme:'dark'}],['m-light',{viewport:{width:360,height:640},deviceScaleFactor:2,colorScheme:'light'}]]) {
  const c = await b.newContext({ ...opts, storageState: state });
  const q = await c.newPage();
  for (const path of paths) {
    const t = Date.now(); const r = await q.goto(site + path);
    console.log(name, path, r.status(), Date.now()-t, 'ms', (await r.body()).length, 'bytes');
    await q.screenshot({ path: `/tmp/u1/shots/${path.replaceAll('/','_').replace(/\?.*/,'')}-${name}.png`, fullPage: true });
  }
  await c.close();
}
await b.close();
