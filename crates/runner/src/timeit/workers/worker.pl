# The worker of `becalm timeit` for Perl: times the statement that lies beside it.
#
#     worker.pl calibrate MIN_NANOSECONDS      doubles the loops until a value takes so long
#     worker.pl run LOOPS WARMUPS VALUES       times values of so many loops
package Becalm;
use strict;
use Time::HiRes ();

my $MOST_LOOPS = 2**32;
my ($folder) = $0 =~ m{^(.*)/};

# What the statement prints must not come between the results.
open(my $results, '>&', \*STDOUT) or die "stdout: $!\n";
open(STDOUT, '>', '/dev/null') or die "/dev/null: $!\n";

sub read_text {
    my ($name) = @_;
    open(my $file, '<', "$folder/$name") or die "$folder/$name: $!\n";
    local $/;
    return scalar <$file>;
}

# CLOCK_MONOTONIC, with the precision of a double: better than 1 ns for a hundred days after boot.
my $clock = sub { return Time::HiRes::clock_gettime(Time::HiRes::CLOCK_MONOTONIC()) };

# Without the scope of this file, so that the statement sees neither its variables nor its strictness.
sub evaluated { no strict; return eval $_[0]; }

sub compiled {
    my ($setup, $statement, $teardown) = map { read_text($_) } qw(setup statement teardown);
    # The comments of `#line` let mistakes be shown in the user's own lines.
    my $inner = evaluated(<<"PERL");
package main;
sub { my (\$becalm_loops, \$becalm_clock) = \@_;
# line 1 "setup"
$setup
;my \$becalm_start = \$becalm_clock->();
for my \$becalm_each (1 .. \$becalm_loops) {
# line 1 "statement"
$statement
;}
my \$becalm_end = \$becalm_clock->();
# line 1 "teardown"
$teardown
;return \$becalm_end - \$becalm_start; }
PERL
    die $@ unless defined $inner;
    return $inner;
}

sub measure {
    my ($inner, $loops) = @_;
    return sprintf '%.0f', 1e9 * $inner->($loops, $clock);
}

sub calibrate {
    my ($inner, $least) = @_;
    my ($loops, @raw) = (1);
    while (1) {
        my $value = measure($inner, $loops);
        push @raw, "[$loops, $value]";
        last if $value >= $least || $loops >= $MOST_LOOPS;
        $loops *= 2;
    }
    my $raw = join ', ', @raw;
    my ($program, $version) = map { s/(["\\])/\\$1/gr } $^X, sprintf('Perl %vd', $^V);
    return qq({"loops": $loops, "raw": [$raw], "program": "$program", "version": "$version"});
}

sub run {
    my ($inner, $loops, $warmups, $values) = @_;
    my @raw = map { measure($inner, $loops) } 1 .. $warmups + $values;
    my $first = join ', ', splice(@raw, 0, $warmups);
    return sprintf '{"loops": %d, "warmups": [%s], "values": [%s]}', $loops, $first, join(', ', @raw);
}

my ($what, @numbers) = splice(@ARGV, 0, 4);
my $line = eval {
    my $inner = compiled();
    $what eq 'calibrate' ? calibrate($inner, @numbers) : run($inner, @numbers);
};
unless (defined $line) {
    print STDERR $@;
    exit 1;
}
print {$results} "$line\n";
close($results);
