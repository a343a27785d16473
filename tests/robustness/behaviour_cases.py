"""The command lines whose behaviour is recorded, one a line: name, then arguments; see behaviour.py."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from tests.robustness.behaviour import Case

SHORT = "rounds=2 epochs=6 retrain_epochs=6 hidden=8"
ADMM = "admm_iterations=2 admm_steps=3"
SCORES = (
    "local_degree,local_similarity,k_neighbour,jaccard,feature_cosine,teddy,dspar,effective_resistance,degree_product,"
    "spanning_forest,random"
)
CORA = {
    "ugs": "examples/cora-node-gcn-ugs-df8e8f72",
    "random": "examples/cora-node-gcn-random-113e68a9",
    "admm": "examples/cora-node-gcn-admm-0913104b",
    "reinit": "examples/cora-node-gcn-reinit-f5de2516",
    "one": "examples/cora-node-gcn-ugs-5840f40e",
    "gin": "examples/cora-node-gin-ugs-bd58203c",
    "gat": "examples/cora-node-gat-ugs-f83edb59",
    "link": "examples/cora-link-gcn-ugs-a234c2d4",
}
OTHERS = {
    "citeseer": "examples/citeseer-node-gcn-ugs-85790eb0",
    "citeseer-random": "examples/citeseer-node-gcn-random-b635adc0",
    "pubmed": "examples/pubmed-node-gcn-ugs-960031db",
    "pubmed-random": "examples/pubmed-node-gcn-random-ccf52687",
}

# Every method, model and task, and every option that changes a round. `{CASE}` is the run that a case printed.
RUNS = f"""
grid-node        sweep --grid method=ugs,random model=gcn,gin,gat --set {SHORT}
grid-node-admm   sweep --grid model=gcn,gin,gat --method admm --set {SHORT} {ADMM}
grid-link        sweep --task link --grid method=ugs,random model=gcn,gin,gat --set {SHORT}
grid-link-admm   sweep --task link --grid model=gcn,gin,gat --method admm --set {SHORT} {ADMM}
grid-deep        sweep --grid method=ugs,random task=node,link --model resgcn --set {SHORT} layers=3
deep-admm        run --model resgcn --method admm --set {SHORT} layers=3 {ADMM}
grid-score       sweep --method score --grid score={SCORES} --set {SHORT}
score-again      run --method score --set {SHORT} recompute=true inverse=true weights=random edge_mask=undirected
score-link       run --method score --task link --set {SHORT} score=spanning_forest
reinit-gcn       run --method reinit --set {SHORT} masks_of={{grid-node#0}}
reinit-draw      run --method reinit --set {SHORT} masks_of={{grid-node#0}} draw=3
reinit-gin       run --method reinit --model gin --set {SHORT} masks_of={{grid-node#1}}
reinit-gat       run --method reinit --model gat --set {SHORT} masks_of={{grid-node#2}}
reinit-link      run --method reinit --task link --set {SHORT} masks_of={{grid-link#0}}
reinit-deep      run --method reinit --model resgcn --set {SHORT} layers=3 masks_of={{grid-deep#0}}
grid-undirected  sweep --grid method=ugs,random model=gcn,gat --set {SHORT} edge_mask=undirected
undirected-admm  run --method admm --set {SHORT} {ADMM} edge_mask=undirected
undirected-link  run --task link --set {SHORT} edge_mask=undirected
grid-degree      sweep --grid degree=target,both,fixed --set {SHORT}
admm-start       run --method admm --set {SHORT} {ADMM} admm_start_competes=true
official-gcn     run --preset official --set {SHORT}
official-gin     run --preset official --model gin --set {SHORT}
official-gat     run --preset official --model gat --set {SHORT}
official-link    run --preset official --model gin --task link --set {SHORT}
paper-gcn        run --preset paper --set {SHORT}
paper-gin        run --preset paper --model gin --set {SHORT}
paper-gat        run --preset paper --model gat --set {SHORT}
paper-link       run --preset paper --task link --set {SHORT}
grid-dropout     sweep --grid dropout=0,0.3 --set {SHORT}
gat-dropout      run --model gat --set {SHORT} dropout=0.6 gat_heads=2 layers=3
link-dropout     run --task link --set {SHORT} dropout=0.4
grid-rates       sweep --grid p_graph=.05,.10,.20 p_weight=.10,.20 --set {SHORT}
grid-seeds       sweep --grid method=ugs,random --seeds 0,1,2 --set {SHORT} hidden=16
one-run          run --set {SHORT} schedule=one_run
mask-steps       run --set {SHORT} mask_learning_rate=0.02 search_learning_rate=0.004 mask_noise=0.001
gat-logit        run --model gat --set {SHORT} gat_mask=logit gat_slope=0.05
gin-mean         run --model gin --set {SHORT} gin_aggregation=mean gin_degree=original gin_mlp=one gin_last_relu=true
gin-jumping      run --model gin --set {SHORT} gin_read_out=jumping layers=3
deep-layer       run --model resgcn --set {SHORT} layers=4 gen_norm=layer gen_mlp=2 gen_self_loops=true gen_t=0.1
deep-stopped     run --model resgcn --set {SHORT} layers=3 gen_gradient=stopped gen_mask=message
deep-bfloat      run --model resgcn --set {SHORT} layers=3 gen_precision=bfloat16
deep-clusters    run --model resgcn --set {SHORT} layers=3 batch_clusters=4 cluster_steps=2
deep-fresh       run --model resgcn --set {SHORT} layers=3 batch_clusters=4 batch_clusters_eval=2 cluster_masks=fresh
link-bce         run --task link --set {SHORT} link_objective=bce
link-hadamard    run --task link --set {SHORT} link_objective=hadamard
link-gic         run --task link --set {SHORT} link_objective=gic gic_clusters=16 split_seed=3 hidden_activation=relu
citeseer         run --dataset citeseer --set {SHORT}
citeseer-link    run --dataset citeseer --task link --set {SHORT}
pubmed           run --dataset pubmed --set {SHORT}
pretrain-edges   pretrain --hidden 8 --set epochs=4
pretrain-nodes   pretrain --hidden 8 --set epochs=4 share=0.1 --augmentation nodes
pretrain-feature pretrain --hidden 8 --set epochs=4 --augmentation features
pretrain-sub     pretrain --hidden 8 --set epochs=4 --augmentation subgraph
pretrain-link    pretrain --hidden 8 --set epochs=4 --task link
start-gcn        run --set {SHORT} pretraining={{pretrain-edges}}
start-sub        run --set {SHORT} pretraining={{pretrain-sub}}
start-random     run --method random --set {SHORT} pretraining={{pretrain-nodes}}
start-gin        run --model gin --set {SHORT} pretraining={{pretrain-feature}}
start-link       run --task link --set {SHORT} pretraining={{pretrain-link}}
again-gcn        run --set {SHORT}
again-config     run --config store/{{official-gcn}} --set rounds=3
"""

PAIR, TRIO = f"{CORA['ugs']} {CORA['random']}", f"{CORA['ugs']} {CORA['random']} {CORA['admm']}"
RATES = " ".join(f"{{grid-rates#{number}}}" for number in range(6))
SEEDS = "{grid-seeds#0} {grid-seeds#1}"
# After the name: + for every kind of file, - for csv and svg alone.
FIGURES = f"""
accuracy          + accuracy {TRIO}
accuracy-weight   - accuracy {TRIO} --x weight --score last
accuracy-macs     - accuracy {TRIO} --x macs --macs published
accuracy-all      - accuracy {TRIO} --x all --columns 2 --paper --venue neurips
accuracy-paper    - accuracy {PAIR} --paper --full --margin 1
accuracy-reinit   - accuracy {CORA["ugs"]} {CORA["reinit"]} --venue acm
accuracy-models   - accuracy {CORA["one"]} {CORA["gin"]} {CORA["gat"]} --paper --venue ieee --font sans --text 7
accuracy-link     - accuracy {CORA["link"]} --paper --grey
accuracy-citeseer - accuracy {OTHERS["citeseer"]} {OTHERS["citeseer-random"]} --paper --macs sparse_features --x macs
accuracy-pubmed   - accuracy {OTHERS["pubmed"]} {OTHERS["pubmed-random"]} --venue iclr --columns 2
accuracy-sets     - accuracy {CORA["one"]} {OTHERS["citeseer"]} {OTHERS["pubmed"]}
accuracy-own      - accuracy {SEEDS} --store store
accuracy-methods  - accuracy {{grid-node#0}} {{grid-node#3}} {{grid-node-admm#0}} {{reinit-gcn}} --store store
accuracy-start    - accuracy {{grid-node#0}} {{start-gcn}} {{start-random}} --store store
pareto            + pareto {TRIO}
pareto-models     - pareto {CORA["one"]} {CORA["gin"]} {CORA["gat"]} --macs sparse_features --score last
pareto-own        - pareto {SEEDS} --store store --grey
layers            + layers {CORA["ugs"]} {CORA["admm"]}
layers-gin        - layers {CORA["gin"]} {CORA["gat"]} --columns 2
layers-deep       - layers {{deep-layer}} --store store
degrees           + degrees {TRIO}
degrees-round     - degrees {PAIR} --round 5 --no-null
degrees-link      - degrees {CORA["link"]} --round 3
training          + training {CORA["ugs"]}
training-round    - training {PAIR} --round 3 --seed 1
training-own      - training {{grid-node#0}} --store store
training-start    - training {{start-gcn}} --store store
losers            + losers {PAIR}
losers-round      - losers {CORA["ugs"]} --round 5 --score last
pairs             + pairs {PAIR}
pairs-admm        - pairs {CORA["ugs"]} {CORA["admm"]} --score last --margin 2
pairs-own         - pairs {SEEDS} --store store
scores            + scores {CORA["ugs"]}
scores-edge       - scores {CORA["ugs"]} --edge 0,633 --round 6
scores-own        - scores {{grid-node#0}} --store store --edge 0,633
subgraphs         + subgraphs {CORA["ugs"]} --round 5 --size 40
subgraphs-pair    - subgraphs {PAIR} --round 8 --size 60 --sample ego --center 12 --fresh
subgraphs-class   - subgraphs {CORA["ugs"]} --round 4 --size 30 --sample class --class 2
subgraphs-changed - subgraphs {CORA["ugs"]} --round 10 --size 30 --sample changed --sample-seed 4
subgraphs-union   - subgraphs {CORA["random"]} --round 3 --size 30 --sample community --seed 2
subgraphs-nodes   - subgraphs {CORA["ugs"]} --round 6 --sample nodes --nodes 0,633,1862,2582,3
teaser            + teaser {TRIO}
teaser-citeseer   - teaser {OTHERS["citeseer"]} {OTHERS["citeseer-random"]}
trend             + trend {PAIR}
trend-kept        - trend {TRIO} --measure reach --over kept
trend-homophily   - trend {CORA["ugs"]} --measure edge_homophily --no-null
trend-own         - trend {SEEDS} --measure components --store store
ablation          + ablation {RATES} --store store
ablation-all      - ablation {RATES} --store store --x all --columns 2
ablation-degree   - ablation {{grid-node#0}} {{grid-degree#0}} {{grid-degree#1}} --store store
page              + accuracy,pareto,layers,training {PAIR} --columns 2 --panels 2x2 --text 6
page-row          - accuracy,subgraphs {CORA["ugs"]} --columns 2 --panels 1x2 --size 30 --round 4
"""

TABLES = f"""
tickets           tickets {TRIO}
tickets-last      tickets {TRIO} --score last --margin 2 --macs published
tickets-models    tickets {CORA["one"]} {CORA["gin"]} {CORA["gat"]}
tickets-own       tickets {SEEDS} --store store
paper             paper {PAIR}
paper-models      paper {CORA["one"]} {CORA["gin"]} {CORA["gat"]} --score last
paper-sets        paper {OTHERS["citeseer"]} {OTHERS["pubmed"]}
measurements      measurements {PAIR} --round 5 --null
measurements-link measurements {CORA["link"]}
measurements-two  measurements {CORA["ugs"]} {CORA["admm"]} --round 1 --round 13 --engine fast
"""
TRENDS = f"""
trend             trend {PAIR} --measure isolated_nodes
trend-null        trend {CORA["ugs"]} --measure average_clustering --null
"""

# Verbs with --json; those after `-` have none.
VERBS = f"""
list              glt list --store store --json
list-examples     glt list --store store --examples --json
show-own          glt show {{grid-seeds#0}} --store store --json
show-deep         glt show {{deep-clusters}} --store store --json
show-pretrain     glt show {{pretrain-edges}} --store store --json
show-path         glt show store/{{official-gin}} --margin 1 --json
cost              glt cost {CORA["ugs"]} --round 13 --json
cost-link         glt cost {CORA["link"]} --round 4 --json
cost-gin          glt cost {{grid-node#1}} --store store --round 2 --json
cost-gat          glt cost {{grid-node#2}} --store store --round 2 --json
cost-deep         glt cost {{deep-layer}} --store store --round 1 --json
audit             glt audit {{grid-node#0}} --store store --round 2 --json
audit-gat         glt audit {{grid-node#2}} --store store --round 2 --json
audit-logit       glt audit {{gat-logit}} --store store --round 1 --json
audit-link        glt audit {{grid-link#1}} --store store --round 2 --json
audit-deep        glt audit {{deep-clusters}} --store store --round 1 --json
audit-admm        glt audit {{grid-node-admm#0}} --store store --round 2 --json
audit-example     glt audit {CORA["ugs"]} --round 3 --json
latency           glt latency {{grid-node#0}} --store store --round 2 --repeats 5 --warm-up 1 --json
doctor            glt doctor --store store --json
reproduce         glt reproduce --json
reproduce-graphcl glt reproduce graphcl --dry-run --store store --json
reproduce-random  glt reproduce random-tickets --dry-run --store store --json
reproduce-teaser  glt reproduce teaser --dry-run --store store --seeds 0-4 --json
reproduce-nodes   glt reproduce node-classification --dry-run --no-examples --model gin --dataset citeseer --json
reproduce-links   glt reproduce link-prediction --dry-run --store store --json
reproduce-abl     glt reproduce ablation --dry-run --store store --json
reproduce-meas    glt reproduce measurements --dry-run --store store --json
reproduce-gallery glt reproduce subgraph-gallery --dry-run --store store --json
measure           analysis measure {CORA["ugs"]} --round 5 --json
measure-fast      analysis measure {CORA["admm"]} --round 13 --engine fast --json
measure-link      analysis measure {CORA["link"]} --round 3 --json
measure-own       analysis measure {{undirected-admm}} --store store --round 2 --json
measure-explain   analysis measure {CORA["ugs"]} --round 5 --explain --json
compare           analysis compare {PAIR} --json
compare-graph     analysis compare {CORA["ugs"]} {CORA["admm"]} --at graph --score last --margin 1 --json
compare-weight    analysis compare {CORA["ugs"]} {CORA["reinit"]} --at weight --macs published --json
compare-own       analysis compare {SEEDS} --store store --json
compare-models    analysis compare {CORA["gin"]} {CORA["gat"]} --json
leaders           analysis leaders {TRIO} --json
leaders-dense     analysis leaders {TRIO} --rank dense --score last --margin 1 --json
leaders-by        analysis leaders {RATES} --by p_graph --store store --json
leaders-methods   analysis leaders {TRIO} {CORA["reinit"]} --by method --json
betweenness       analysis betweenness {CORA["ugs"]} --round 5 --sample 60 --json
betweenness-exact analysis betweenness {{grid-node#0}} --store store --round 1 --json
text-list         glt list --store store --examples
text-show         glt show {CORA["ugs"]}
text-show-own     glt show {{grid-seeds#0}} --store store
text-show-pre     glt show {{pretrain-edges}} --store store
text-cost         glt cost {CORA["ugs"]} --round 13
text-audit        glt audit {{grid-node#0}} --store store --round 2
text-doctor       glt doctor --store store
text-reproduce    glt reproduce
text-dry          glt reproduce teaser --dry-run --store store
text-sweep        glt sweep --grid p_graph=.05,.10,.20 p_weight=.10,.20 --set {SHORT} --store store
text-run          glt run --set {SHORT} --store store
text-measure      analysis measure {CORA["ugs"]} --round 5
text-explain      analysis measure {CORA["ugs"]} --round 5 --explain
text-compare      analysis compare {PAIR}
text-leaders      analysis leaders {TRIO}
text-between      analysis betweenness {CORA["ugs"]} --round 5 --sample 60
help              glt --help
help-analysis     analysis --help
version           glt --version
version-analysis  analysis --version
"""

# What changes a store works on a copy, in this order; before `|` what is done to the copy first.
CHANGES = """
annotate          | glt annotate {official-gcn} --title First --note seen --color orange --json
annotate-hide     | glt annotate {official-gcn} --hide --json
list-annotated    | glt list --json
list-hidden       | glt list
list-all          | glt list --all
annotate-clear    | glt annotate {official-gcn} --clear --json
delete            | glt delete {paper-gcn} {paper-gin}
list-deleted      | glt list --json
restore           | glt delete --restore {paper-gcn}
empty-trash       | glt delete --empty-trash
list-restored     | glt list --json
detach            | glt run --set rounds=2 epochs=400 retrain_epochs=400 hidden=8 learning_rate=0.009 --detach --json
stop              | glt stop {change-detach}
show-stopped      | glt show {change-detach} --json
resume            | glt resume {change-detach} --json
resume-complete   | glt resume {change-detach} --json
doctor-flip       flip:copy/{paper-gat}/seed-0/round-01.safetensors:900 | glt doctor --json
show-flip         | glt show {paper-gat} --json
audit-flip        | glt audit {paper-gat} --round 1 --json
doctor-mend       | glt doctor --mend --json
doctor-mended     | glt doctor --json
doctor-line       cut:copy/{gin-mean}/seed-0/rounds.jsonl | glt doctor {gin-mean} --json
show-line         | glt show {gin-mean} --json
doctor-line-mend  | glt doctor {gin-mean} --mend --json
doctor-config     cut:copy/{gin-jumping}/config.json | glt doctor {gin-jumping} --json
show-config       | glt show {gin-jumping} --json
list-config       | glt list --json
doctor-missing    remove:copy/{gat-logit}/seed-0/weights-01.safetensors | glt doctor {gat-logit} --json
doctor-init       remove:copy/{gat-dropout}/seed-0/init.safetensors | glt doctor {gat-dropout} --json
doctor-status     cut:copy/{link-bce}/seed-0/status.json | glt doctor {link-bce} --json
show-status       | glt show {link-bce} --json
doctor-text       | glt doctor
"""

EXPORTS = f"""
ticket.zip        {{grid-node#0}} --store store --round 2
gat.zip           {{grid-node#2}} --store store --round 1
link.zip          {{grid-link#0}} --store store --round 1
deep.zip          {{deep-layer}} --store store --round 2
dense.zip         {{grid-node#1}} --store store --round 0
graph.graphml     {CORA["ugs"]} --round 5 --format graphml
graph.csv         {CORA["ugs"]} --round 5 --format csv
graph.npz         {CORA["ugs"]} --round 5 --format npz
"""

BAD = f"""
glt run --dataset coar
glt run --method ugz
glt run --model gnc
glt run --task nodes
glt run --preset offical
glt run --set roundz=3
glt run --set p_graph=1.5
glt run --set rounds=0 hidden=no
glt run --set rounds
glt run --seeds 1,,2
glt run --seeds 5-1
glt run --threads 0
glt run --device tpu
glt run --device cuda
glt run --devices cpu --device cpu
glt run --config nowhere/config.json
glt run --store stdout/store
glt run --method reinit --set masks_of=nothing
glt run --set pretraining=nothing
glt run --task link --dataset ogbn-arxiv
glt run --dataset ogbn-arxiv
glt sweep
glt sweep --grid p_graph
glt sweep --grid hidden=4,four
glt show
glt show nothing
glt show cora-node-gcn-ugs --store store
glt stop nothing
glt resume nothing
glt audit {CORA["ugs"]} --round 99
glt audit nothing --round 1
glt cost {CORA["ugs"]}
glt cost {CORA["ugs"]} --round x
glt cost {CORA["ugs"]} --round 1 --seed 9
glt latency {CORA["ugs"]} --round 1 --threads 9999
glt delete
glt delete nothing
glt delete {CORA["ugs"]}
glt annotate nothing --title x
glt annotate {{official-gcn}} --color mauve --store store
glt export {CORA["ugs"]} --round 1 --format gexf --out x.gexf
glt export {CORA["ugs"]} --round 1 --out nowhere/x.zip
glt import nothing.zip
glt import behaviour.txt
glt import ticket-bad.zip
glt pretrain --augmentation colours
glt pretrain --set share=2
glt reproduce nothing --dry-run
glt reproduce teaser --dataset pubmed --dry-run
glt doctor nothing
glt frobnicate
glt
analysis
analysis figure bogus {CORA["ugs"]} --out x.svg
analysis figure accuracy {CORA["ugs"]} --out x.doc
analysis figure accuracy {CORA["ugs"]} --out x.svg --venue cvpr
analysis figure accuracy {CORA["ugs"]} --out x.svg --text 90
analysis figure accuracy {CORA["ugs"]} --out x.pgf
analysis figure accuracy {CORA["ugs"]}
analysis figure accuracy nothing --out x.svg
analysis figure trend {CORA["ugs"]} --measure bogus --out x.svg
analysis figure subgraphs {CORA["ugs"]} --sample bogus --out x.svg
analysis figure subgraphs {CORA["ugs"]} --sample ego --center 99999 --out x.svg
analysis figure subgraphs {CORA["ugs"]} --sample class --class 9 --out x.svg
analysis figure scores {CORA["random"]} --out x.svg
analysis figure scores {CORA["ugs"]} --edge 0,1 --out x.svg
analysis figure scores {CORA["ugs"]} --edge 3 --out x.svg
analysis figure ablation {PAIR} --out x.svg
analysis figure accuracy,pareto {CORA["ugs"]} --panels 5x --out x.svg
analysis figure accuracy {CORA["ugs"]} --dpi 5000 --out x.png
analysis table nothing {CORA["ugs"]}
analysis table trend {CORA["ugs"]}
analysis table measurements {CORA["ugs"]} --round 99
analysis table paper {{deep-layer}} --store store
analysis bundle {CORA["ugs"]} --out x.tar
analysis compare {CORA["ugs"]}
analysis compare {CORA["ugs"]} {OTHERS["pubmed"]}
analysis leaders {CORA["ugs"]} --by bogus
analysis leaders nothing
analysis betweenness {CORA["ugs"]} --round 99
analysis measure {CORA["ugs"]} --round 5 --engine slow
"""
# A page and what its address says; `,,` stands between several values of one name.
PAGES = f"""
curves         curves
curves-trio    curves runs={CORA["ugs"]},,{CORA["random"]},,{CORA["admm"]}
curves-weight  curves runs={CORA["ugs"]} x=weight margin=1.5 paper=1 each_seed=yes
curves-macs    curves runs={CORA["gin"]},,{CORA["gat"]} x=macs
curves-own     curves runs={{grid-seeds#0}},,{{grid-seeds#1}} whole=1
launch         launch
launch-link    launch dataset=citeseer task=link seeds=1-2 hidden=16
launch-vary    launch methods=ugs vary=p_graph sweep_p_graph=0.05,0.1 hidden=16
launch-deep    launch model=resgcn
runs           runs
runs-example   runs run={CORA["ugs"]} training_round=13
runs-own       runs run={{deep-clusters}}
subgraphs      subgraphs run={CORA["ugs"]} round=5 size=40
subgraphs-pair subgraphs run={CORA["ugs"]} round=5 beside={CORA["random"]}
subgraphs-lost subgraphs run={CORA["ugs"]} round=3 section=losers
subgraphs-odd  subgraphs run=no-such-run seed=99 round=77 size=many draw=x
measurements   measurements round=5 runs={CORA["ugs"]},,{CORA["random"]}
measure-trend  measurements view=trend measure=triangles over=kept null=1 runs={CORA["ugs"]}
measure-nodes  measurements view=elements elements=degrees round=2 run={CORA["ugs"]}
measure-edges  measurements view=elements elements=edges round=2 run={CORA["ugs"]}
tickets        tickets
compare        compare one={CORA["ugs"]} other={CORA["random"]}
compare-by     compare by=p_graph
paper          paper
paper-tickets  paper experiment=random-tickets
paper-nodes    paper experiment=node-classification dataset=pubmed
paper-teaser   paper experiment=teaser seeds=0-1
paper-links    paper experiment=link-prediction
export         export what=accuracy runs={CORA["ugs"]}
export-bundle  export what=bundle runs={CORA["ugs"]} columns=2
export-gallery export what=gallery runs={CORA["ugs"]}
"""
GLT_VERBS = (
    "annotate audit cost delete doctor export import latency list pretrain reproduce resume run show stop sweep"
).split()
ANALYSIS_VERBS = "betweenness bundle compare figure leaders measure table".split()


def cases() -> Iterator[Case]:
    """Yield every case, those that make runs first."""
    for name, words in named_lines(RUNS):
        yield Case(f"run-{name}", "results", ("glt", *prefixed(words), "--store", "store", "--json"))
    yield from figures()
    yield from verbs()
    yield from changes()
    for number, line in enumerate(filter(None, BAD.splitlines())):
        yield Case(f"bad-{number:02d}-{'-'.join(line.split()[:2])}", "json", prefixed(line))

    for name, words in named_lines(PAGES):
        yield Case(f"page-{name}", "pages", ("page", *prefixed(words)))


def figures() -> Iterator[Case]:
    """Yield figures, tables and bundles."""
    for name, line in named_lines(FIGURES):
        kinds, _, words = line.partition(" ")
        for kind in ("csv", "json", "svg", "pdf", "png") if kinds == "+" else ("csv", "svg"):
            out = f"{name}.{kind}"
            more = ("--dpi", "60") if kind == "png" else ()
            argv = ("analysis", "figure", *prefixed(words), "--out", out, *more)
            yield Case(f"figure-{name}-{kind}", "figures", argv, (out,))
    for lines, formats in ((TABLES, ("latex", "csv", "json")), (TRENDS, ("csv", "json"))):
        for name, words in named_lines(lines):
            for kind in formats:
                out = f"table-{name}.{'tex' if kind == 'latex' else kind}"
                argv = ("analysis", "table", *prefixed(words), "--format", kind, "--out", out)
                yield Case(f"table-{name}-{kind}", "figures", argv, (out,))
    yield Case("table-printed", "figures", ("analysis", "table", "paper", *PAIR.split()))
    for name, words in (("example", f"{PAIR} --size 40"), ("own", f"{SEEDS} --store store --size 40 --venue ieee")):
        out = f"bundle-{name}.zip"
        yield Case(f"bundle-{name}", "figures", ("analysis", "bundle", *prefixed(words), "--out", out), (out,))


def verbs() -> Iterator[Case]:
    """Yield verbs that read, export or import, and every verb's help."""
    for name, words in named_lines(VERBS):
        yield Case(name, "json", prefixed(words), keep="names" if name == "latency" else "all")
    for name, run in (CORA | OTHERS).items():
        yield Case(f"show-{name}", "json", ("glt", "show", run, "--json"))
    for name, words in named_lines(EXPORTS):
        yield Case(f"export-{name}", "json", ("glt", "export", *prefixed(words), "--out", name), (name,))
    for name in ("ticket", "gat", "link", "deep", "dense"):
        yield Case(f"import-{name}", "json", ("glt", "import", f"{name}.zip", "--json"))
    yield Case("import-text", "json", ("glt", "import", "ticket.zip"))
    for kind in ("graphml", "csv", "npz"):
        argv = ("glt", "import", "ticket.zip", "--graph", f"taken.{kind}", "--json")
        yield Case(f"import-graph-{kind}", "json", argv, (f"taken.{kind}",))
    for verb in GLT_VERBS:
        yield Case(f"help-{verb}", "json", ("glt", verb, "--help"))
    for verb in ANALYSIS_VERBS:
        yield Case(f"help-{verb}", "json", ("analysis", verb, "--help"))


def changes() -> Iterator[Case]:
    """Yield verbs that change a store, on a copy; and two files that are not tickets."""
    text = base64.b64encode(b"no ticket\n").decode()
    before = f"copy:store:copy write:behaviour.txt:{text} write:ticket-bad.zip:{text} "
    for name, line in named_lines(CHANGES):
        first, _, words = line.rpartition("|")
        argv = (*prefixed(words), "--store", "copy")
        # How far a run is that was just started or stopped depends on the clock.
        keep = "run" if name in ("detach", "show-stopped") else "all"
        yield Case(f"change-{name}", "json", argv, before=before + prefixed_text(first), keep=keep)
        before = ""


def named_lines(lines: str) -> Iterator[tuple[str, str]]:
    """Yield the first word and the rest of every line."""
    for line in filter(None, lines.splitlines()):
        name, _, rest = line.partition(" ")
        yield name, rest.strip()


def prefixed(words: str) -> tuple[str, ...]:
    """Return the words of a command line; `{grid-node#0}` is the run that the case `run-grid-node` printed."""
    return tuple(prefixed_text(words).split())


def prefixed_text(text: str) -> str:
    return re.sub(r"\{(?!change-)", "{run-", text)
